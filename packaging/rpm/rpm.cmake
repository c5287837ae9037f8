# How a row of packages.cmake becomes an rpm package. Scripts become text of a spec file, where % begins a macro: they have none.
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_GROUP "System Environment/Daemons")
set(CPACK_RPM_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_RPM_PACKAGE_RELEASE 1)
set(CPACK_PACKAGE_RELOCATABLE OFF)  # units and scripts name /usr
# rpm finds the libraries that a program needs. It would also take modules for libraries that others may need, so it is not asked for those.
set(CPACK_RPM_PACKAGE_AUTOPROV no)
# Whoever has the examples need not have Python.
set(CPACK_RPM_REQUIRES_EXCLUDE_FROM "^/usr/share/muster/examples/")
# The files are those that CPack has laid out, stripped, and nothing is added to them or changed.
set(CPACK_RPM_SPEC_INSTALL_POST /bin/true)
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none\n%define _binary_payload w9.zstdio")
# Without a file CPack writes an entry of its author's.
set(CPACK_RPM_CHANGELOG_FILE ${CMAKE_CURRENT_BINARY_DIR}/rpm/changelog)
file(WRITE ${CPACK_RPM_CHANGELOG_FILE} "")
# Folders of the distribution, which a package must not call its own.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /etc/logrotate.d /usr/etc /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}
    /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/security /usr/lib64/security /usr/lib/systemd /usr/lib/systemd/system /usr/libexec /usr/sbin /usr/share/bash-completion /usr/share/bash-completion/completions /usr/share/fish
    /usr/share/fish/vendor_completions.d /usr/share/man /usr/share/man/man1 /usr/share/man/man8 /usr/share/zsh
    /usr/share/zsh/site-functions)

# Of the package that muster_package reads: what it stands for and needs, its scripts.
macro(rpm_package component)
  set(scripts ${CMAKE_CURRENT_BINARY_DIR}/rpm/${component})
  set(needs ${P_NEEDS})
  list(TRANSFORM needs APPEND " = ${PROJECT_VERSION}")
  if(${component} STREQUAL common)
    set(CPACK_RPM_${C}_PACKAGE_REQUIRES_PRE "/usr/sbin/groupadd, /usr/sbin/useradd")
    set(CPACK_RPM_${C}_PRE_INSTALL_SCRIPT_FILE ${CMAKE_CURRENT_SOURCE_DIR}/rpm/common.pre)
    set(CPACK_RPM_${C}_POST_INSTALL_SCRIPT_FILE ${CMAKE_CURRENT_SOURCE_DIR}/rpm/common.post)
  elseif(P_OWNER)
    foreach(name post preun postun)
      configure_file(rpm/daemon.${name}.in ${scripts}/${name} @ONLY)
    endforeach()
    set(CPACK_RPM_${C}_POST_INSTALL_SCRIPT_FILE ${scripts}/post)
    set(CPACK_RPM_${C}_PRE_UNINSTALL_SCRIPT_FILE ${scripts}/preun)
    set(CPACK_RPM_${C}_POST_UNINSTALL_SCRIPT_FILE ${scripts}/postun)
  endif()
  set(CPACK_RPM_${C}_PACKAGE_NAME muster-${component})
  set(CPACK_RPM_${C}_PACKAGE_SUMMARY "${P_SUMMARY}")
  if(needs)
    list(JOIN needs ", " CPACK_RPM_${C}_PACKAGE_REQUIRES)
  endif()
  if(P_RECOMMENDS)
    # CPack has no word for it: a line of its own after that of Requires.
    list(JOIN P_RECOMMENDS ", " recommends)
    string(APPEND CPACK_RPM_${C}_PACKAGE_REQUIRES "\nRecommends: ${recommends}")
  endif()
  if(P_RPM)
    list(JOIN P_RPM ", " CPACK_RPM_${C}_PACKAGE_PROVIDES)
    set(CPACK_RPM_${C}_PACKAGE_CONFLICTS "${CPACK_RPM_${C}_PACKAGE_PROVIDES}")
  endif()
  if(conffiles)
    list(TRANSFORM conffiles PREPEND "%config(noreplace) " OUTPUT_VARIABLE CPACK_RPM_${C}_USER_FILELIST)
  endif()
endmacro()
