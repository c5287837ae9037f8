# The packages, Debian's and rpm's: `cpack -G DEB` or `cpack -G RPM` in a build folder. This table says once for both formats which packages
# there are and what each needs; debian/ and rpm/ say how a format writes it down. A component of the installation is a package; the roles are
# those of the packages that people know, and each provides their names, so that what depends on slurmd is content with muster-slurmd. They
# conflict with them, too: a machine runs one or the other.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME muster)
set(CPACK_PACKAGE_VENDOR Muster)
set(CPACK_PACKAGE_CONTACT "The Muster authors <muster@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "workload manager, a drop-in for Slurm")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)

include(debian/debian.cmake)
include(rpm/rpm.cmake)

# muster_package(COMPONENT SUMMARY text [NEEDS components, in the same version] [RECOMMENDS packages] [DEBIAN names] [RPM names]
#                [OWNER user STATE folder CONF file]): DEBIAN and RPM, the names that it stands for; OWNER to CONF, of a daemon whose unit is
# named as the component: the user whose its state is, and the file without which it does not start.
macro(muster_package component)
  cmake_parse_arguments(P "" "SUMMARY;OWNER;STATE;CONF" "NEEDS;RECOMMENDS;DEBIAN;RPM" ${ARGN})
  string(TOUPPER ${component} C)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_COMPONENT_${C}_DESCRIPTION "${P_SUMMARY}")
  list(TRANSFORM P_NEEDS PREPEND muster-)
  set(conffiles)
  if(P_OWNER)
    # What the texts of daemons are filled in with.
    set(UNIT ${component})
    foreach(word OWNER STATE CONF)
      set(${word} ${P_${word}})
    endforeach()
    set(conffiles /etc/logrotate.d/muster-${UNIT})
    configure_file(daemon.logrotate.in logrotate/muster-${UNIT} @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/logrotate/muster-${UNIT} DESTINATION /etc/logrotate.d COMPONENT ${component}
            EXCLUDE_FROM_ALL)  # packages have it; an installation below a prefix writes nothing elsewhere
  endif()
  debian_package(${component})
  rpm_package(${component})
endmacro()

muster_package(common SUMMARY "the user, the folders, documentation and examples of Muster")
muster_package(client SUMMARY "commands of Muster: sbatch, srun, squeue, scontrol and the others" NEEDS common RECOMMENDS munge
               DEBIAN slurm-client RPM slurm)
muster_package(slurmctld SUMMARY "controller daemon of Muster" NEEDS common client RECOMMENDS munge logrotate
               DEBIAN slurmctld RPM slurm-slurmctld OWNER slurm STATE /var/lib/slurm/slurmctld CONF slurm.conf)
muster_package(slurmd SUMMARY "node daemon of Muster" NEEDS common client RECOMMENDS munge logrotate muster-mpi
               DEBIAN slurmd RPM slurm-slurmd OWNER root STATE /var/spool/slurmd CONF slurm.conf)
muster_package(slurmdbd SUMMARY "accounting daemon of Muster" NEEDS common RECOMMENDS munge logrotate
               DEBIAN slurmdbd RPM slurm-slurmdbd OWNER slurm STATE /var/lib/slurm/slurmdbd CONF slurmdbd.conf)
muster_package(sackd SUMMARY "daemon of Muster for login hosts" NEEDS common client RECOMMENDS munge logrotate
               DEBIAN sackd RPM slurm-sackd OWNER slurm STATE /var/lib/slurm/sackd CONF slurm.conf)
muster_package(mpi SUMMARY "modules of Muster for srun --mpi=pmix and --mpi=pmi2" NEEDS common)
muster_package(hdf5 SUMMARY "sh5util of Muster: the profiles of a job as one HDF5 file" NEEDS common client DEBIAN slurm-wlm-hdf5-plugin)
# What people type to have a whole cluster on one host; it has no program of its own.
muster_package(wlm SUMMARY "all of Muster for one host: controller, node daemon and commands" NEEDS slurmctld slurmd client DEBIAN slurm-wlm)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/doc/muster-wlm COMPONENT wlm)
muster_package(dev SUMMARY "headers for SPANK plugins" NEEDS common DEBIAN libslurm-dev RPM slurm-devel)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION devel)
if(TARGET pam_slurm_adopt)
  # Not Debian's libpam-slurm: that has a pam_slurm.so, which only looks. rpm sites have both in one package.
  muster_package(pam SUMMARY "pam_slurm_adopt of Muster: logins on nodes become part of jobs" NEEDS common slurmd
                 DEBIAN libpam-slurm-adopt RPM slurm-pam_slurm)
endif()
include(CPack)
