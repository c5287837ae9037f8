# The Debian packages: `cpack -G DEB` in a build folder. A component of the installation is a package; the roles are those of the packages
# that people know, and each provides their names, so that what depends on slurmd is content with muster-slurmd. They conflict with them,
# too: a machine runs one or the other.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME muster)
set(CPACK_PACKAGE_VENDOR Muster)
set(CPACK_PACKAGE_CONTACT "The Muster authors <muster@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "workload manager, a drop-in for Slurm")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_VERSION ${PROJECT_VERSION})
set(scripts ${CMAKE_CURRENT_BINARY_DIR}/debian)

# muster_package(COMPONENT SUMMARY text [DEPENDS list] [PROVIDES names] [SCRIPTS files])
function(muster_package component)
  cmake_parse_arguments(P "" "SUMMARY;DEPENDS;RECOMMENDS" "PROVIDES;SCRIPTS" ${ARGN})
  string(TOUPPER ${component} C)
  list(JOIN P_PROVIDES ", " provides)
  set(CPACK_DEBIAN_${C}_PACKAGE_NAME muster-${component} PARENT_SCOPE)
  set(CPACK_COMPONENT_${C}_DESCRIPTION "${P_SUMMARY}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${C}_DESCRIPTION "${P_SUMMARY}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${C}_PACKAGE_DEPENDS "${P_DEPENDS}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${C}_PACKAGE_RECOMMENDS "${P_RECOMMENDS}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${C}_PACKAGE_PROVIDES "${provides}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${C}_PACKAGE_CONFLICTS "${provides}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${C}_PACKAGE_REPLACES "${provides}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${C}_PACKAGE_CONTROL_EXTRA "${P_SCRIPTS}" PARENT_SCOPE)
endfunction()

# A script of a package keeps the name that dpkg knows it by, so each package has a folder of them.
function(muster_script from component name)
  file(READ ${from} text)
  string(CONFIGURE "${text}" text @ONLY)
  file(CONFIGURE OUTPUT ${scripts}/${component}/${name} CONTENT "${text}" @ONLY)
  file(CHMOD ${scripts}/${component}/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endfunction()

foreach(name postinst postrm)
  muster_script(${CMAKE_CURRENT_SOURCE_DIR}/debian/common.${name} common ${name})
endforeach()

# A daemon: its scripts, its log's rotation. OWNER: the user whose it is, who owns its state.
function(muster_daemon_package UNIT OWNER STATE CONF)
  foreach(name postinst prerm postrm)
    muster_script(${CMAKE_CURRENT_SOURCE_DIR}/debian/daemon.${name}.in ${UNIT} ${name})
  endforeach()
  configure_file(debian/daemon.logrotate.in ${scripts}/${UNIT}/logrotate @ONLY)
  install(FILES ${scripts}/${UNIT}/logrotate DESTINATION /etc/logrotate.d RENAME muster-${UNIT} COMPONENT ${UNIT}
          EXCLUDE_FROM_ALL)  # packages have it; an installation below a prefix writes nothing elsewhere
  file(WRITE ${scripts}/${UNIT}/conffiles "/etc/logrotate.d/muster-${UNIT}\n")
  file(CHMOD ${scripts}/${UNIT}/conffiles PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endfunction()
muster_daemon_package(slurmctld slurm /var/lib/slurm/slurmctld slurm.conf)
muster_daemon_package(slurmd root /var/spool/slurmd slurm.conf)
muster_daemon_package(slurmdbd slurm /var/lib/slurm/slurmdbd slurmdbd.conf)
muster_daemon_package(sackd slurm /var/lib/slurm/sackd slurm.conf)

function(scripts_of component out)
  set(found)
  foreach(name postinst prerm postrm conffiles)
    if(EXISTS ${scripts}/${component}/${name})
      list(APPEND found ${scripts}/${component}/${name})
    endif()
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()
foreach(component common slurmctld slurmd slurmdbd sackd)
  scripts_of(${component} scripts_${component})
endforeach()

set(same "muster-common (= ${PROJECT_VERSION})")
muster_package(common SUMMARY "the user, the folders, documentation and examples of Muster" DEPENDS "adduser" SCRIPTS ${scripts_common})
muster_package(client SUMMARY "commands of Muster: sbatch, srun, squeue, scontrol and the others" DEPENDS "${same}" RECOMMENDS "munge"
               PROVIDES slurm-client)
muster_package(slurmctld SUMMARY "controller daemon of Muster" DEPENDS "${same}, muster-client (= ${PROJECT_VERSION}), init-system-helpers"
               RECOMMENDS "munge, logrotate" PROVIDES slurmctld SCRIPTS ${scripts_slurmctld})
muster_package(slurmd SUMMARY "node daemon of Muster" DEPENDS "${same}, muster-client (= ${PROJECT_VERSION}), init-system-helpers"
               RECOMMENDS "munge, logrotate, muster-mpi" PROVIDES slurmd SCRIPTS ${scripts_slurmd})
muster_package(slurmdbd SUMMARY "accounting daemon of Muster" DEPENDS "${same}, init-system-helpers" RECOMMENDS "munge, logrotate"
               PROVIDES slurmdbd SCRIPTS ${scripts_slurmdbd})
muster_package(sackd SUMMARY "daemon of Muster for login hosts" DEPENDS "${same}, muster-client (= ${PROJECT_VERSION}), init-system-helpers"
               RECOMMENDS "munge, logrotate" PROVIDES sackd SCRIPTS ${scripts_sackd})
muster_package(mpi SUMMARY "modules of Muster for srun --mpi=pmix and --mpi=pmi2" DEPENDS "${same}")
muster_package(hdf5 SUMMARY "sh5util of Muster: the profiles of a job as one HDF5 file" DEPENDS "${same}, muster-client (= ${PROJECT_VERSION})"
               PROVIDES slurm-wlm-hdf5-plugin)
# Not libpam-slurm: that has a pam_slurm.so, which only looks.
muster_package(pam SUMMARY "pam_slurm_adopt of Muster: logins on nodes become part of jobs" DEPENDS "${same}, muster-slurmd (= ${PROJECT_VERSION})"
               PROVIDES libpam-slurm-adopt)
# What people type to have a whole cluster on one host; it has no program of its own.
muster_package(wlm SUMMARY "all of Muster for one host: controller, node daemon and commands" PROVIDES slurm-wlm
               DEPENDS "muster-slurmctld (= ${PROJECT_VERSION}), muster-slurmd (= ${PROJECT_VERSION}), muster-client (= ${PROJECT_VERSION})")
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/doc/muster-wlm COMPONENT wlm)
muster_package(dev SUMMARY "headers for SPANK plugins" DEPENDS "${same}" PROVIDES libslurm-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION devel)
set(CPACK_COMPONENTS_ALL common client slurmctld slurmd slurmdbd sackd mpi hdf5 wlm dev)
if(TARGET pam_slurm_adopt)
  list(APPEND CPACK_COMPONENTS_ALL pam)
endif()
include(CPack)
