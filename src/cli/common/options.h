// The option tables and parsers, in one include for the commands.
#pragma once

#include "options/help.h"
#include "options/parser.h"
#include "options/query_options.h"
#include "options/script_directives.h"
