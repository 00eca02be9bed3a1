# SPDX-License-Identifier: BSL-1.0
# Runs `cmdq replay` as a user does, on broken files and impossible options: exit code and text of each.
# cmake -DCMDQ=program -DDATA=folder of the recorded streams -DWORK=scratch folder -P replay.cmake
function(expect rc regex)
  execute_process(COMMAND ${CMDQ} replay ${ARGN} RESULT_VARIABLE got OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT got STREQUAL rc OR NOT "${out}${err}" MATCHES "${regex}")
    message(SEND_ERROR "cmdq replay ${ARGN}\n  exit ${got}, expected ${rc}\n  expected to match: ${regex}\n"
      "  printed: ${out}${err}")
  endif()
endfunction()

set(header "seq,write,slot,opcode,d0,d1,fields\n")
set(zero "0x0000000000000000")
set(all "0,0,0,0x30,0x0000000000000030,${zero},\n")
set(sync_fields "cs=2\;msh=0\;msiattr=0x0\;msidata=0x0\;msiaddr=0x0")

# broken(REGEX TEXT): a file of that text is refused with exit code 2 and file:line:column.
function(broken regex text)
  set(file ${WORK}/broken.csv)
  file(WRITE ${file} "${text}")
  expect(2 "broken.csv:${regex}" ${file})
endfunction()

broken("1:1: expected the header" "")
broken("1:1: expected the header .*, found \"0,0,0" "${all}")
broken(" expected at least one command, found none" "# nothing\n${header}")
broken("2:32: expected 7 columns .*, found nothing" "${header}0,0,0,0x30,${zero},1")
broken("2:50: expected 7 columns .*, found \",more\"" "${header}0,0,0,0x30,0x0000000000000030,${zero},,more\n")
broken("3:1: expected 6, found \"7\""
  "${header}5,0,0,0x30,0x0000000000000030,${zero},\n7,0,0,0x30,0x0000000000000030,${zero},\n")
broken("2:1: expected a decimal number below 2\\^32, found \"-1\"" "${header}-1,0,0,0x30,0x0000000000000030,${zero},\n")
broken("2:3: expected a decimal number below 2\\^32, found nothing" "${header}0,,0,0x30,0x0000000000000030,${zero},\n")
broken("3:3: expected a number not below 1, found \"0\""
  "${header}0,1,0,0x30,0x0000000000000030,${zero},\n1,0,0,0x30,0x0000000000000030,${zero},\n")
broken("2:5: expected a decimal number below 2\\^32, found \"4294967296\""
  "${header}0,0,4294967296,0x30,0x0000000000000030,${zero},\n")
broken("2:7: expected 0x30, the opcode in d0, found \"0x31\"" "${header}0,0,0,0x31,0x0000000000000030,${zero},\n")
broken("2:12: expected 0x and 16 hexadecimal digits, found \"0x30\"" "${header}0,0,0,0x30,0x30,${zero},\n")
broken("2:12: expected 0x and 16 hexadecimal digits, found \"0x000000000000003g\""
  "${header}0,0,0,0x30,0x000000000000003g,${zero},\n")
broken("2:12: expected a command .*0x100.* must be 0" "${header}0,0,0,0x30,0x0000000000000130,${zero},\n")
broken("2:12: expected a command .opcode 0x31 is no command" "${header}0,0,0,0x31,0x0000000000000031,${zero},\n")
broken("2:31: expected a command .*word 1: 0x1 must be 0"
  "${header}0,0,0,0x30,0x0000000000000030,0x0000000000000001,\n")
broken("4:50: expected \"${sync_fields}\", the fields of d0 and d1, found \"cs=1\""
  "# c\n${header}${all}1,0,1,0x46,0x0000000000002046,${zero},cs=1\n")

set(long "${header}")
foreach(i RANGE 1024)
  string(APPEND long "${i},0,0,0x30,0x0000000000000030,${zero},\n")
endforeach()
broken("2:1: expected a list of at most 1024 commands, found 1025" "${long}")

set(virtio ${DATA}/virtio-strict-smp4.cmds.csv)
expect(2 "cannot be opened" ${WORK}/absent.csv)
expect(2 "files" --threads 1)
expect(2 "owner_bits: the ring is too small: 32 threads x 3 entries .* = 96 may be outstanding, limit 64 entries"
  ${virtio} --strategy owner_bits --threads 32 --entries 64)
expect(2 "owner_bits: the ring is too small: 128 threads x 3 entries .* = 384 may be outstanding, limit 256 entries"
  ${virtio} --strategy owner_bits,cmpxchg_loop --threads 128 --entries 256)
expect(2 "--entries 100: not a power of two" ${virtio} --entries 100)
expect(2 "--entries.*1048576.*524288" ${virtio} --entries 1048576)
expect(2 "--threads.*0" ${virtio} --threads 0)
expect(2 "--strategy.*magic.*owner_bits" ${virtio} --strategy magic)
expect(2 "--batch-limit 1: .* holds a list of 2 commands" ${virtio} --batch-limit 1)
expect(2 "--reclaim sync_locked: combining takes no lock" ${virtio} --strategy combining --reclaim sync_locked)
expect(2 "no/such/folder/x.json: cannot be written" ${virtio} --json no/such/folder/x.json)
expect(0 "lists not interleaved.*" --help)

# A device too slow for the deadline: the calls say so, and the check fails.
expect(1 "FAILED: thread 0, list [0-9]+ .line [0-9]+.: timeout" ${DATA}/nvme-lazy-smp4.cmds.csv --device thread
  --threads 1 --sync-ns 50000000 --deadline-ms 20)

set(json ${WORK}/replay.json)
expect(0 "all checks passed: 2 runs, 1 refused" ${virtio} --strategy owner_bits --completion msi --threads 1,4,32
  --entries 64 --skip-refused --json ${json})
file(READ ${json} text)
string(JSON count LENGTH "${text}" runs)
string(JSON lists GET "${text}" runs 0 lists)
string(JSON syncs GET "${text}" runs 0 syncs)
string(JSON passed GET "${text}" runs 1 passed)
string(JSON refused GET "${text}" runs 2 refused)
if(NOT "${count} ${lists} ${syncs} ${passed}" STREQUAL "3 5994 5993 ON" OR NOT refused MATCHES "too small")
  message(SEND_ERROR "unexpected JSON: ${count} ${lists} ${syncs} ${passed} ${refused}\n${text}")
endif()
