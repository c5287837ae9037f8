/* The version that plugins are built for: one byte each for year, month and release, as SLURM_VERSION_NUM packs them. */
#ifndef MUSTER_SLURM_VERSION_H
#define MUSTER_SLURM_VERSION_H

#define SLURM_VERSION_NUM(year, month, release) (((year) << 16) + ((month) << 8) + (release))
#define SLURM_VERSION_MAJOR(number) (((number) >> 16) & 0xff)
#define SLURM_VERSION_MINOR(number) (((number) >> 8) & 0xff)
#define SLURM_VERSION_MICRO(number) ((number)&0xff)
#define SLURM_VERSION_NUMBER SLURM_VERSION_NUM(26, 5, 3)

#endif
