/* A shared object, but no plugin. */
int nothing;
