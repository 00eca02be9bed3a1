// SPDX-License-Identifier: BSL-1.0
// The workloads that every strategy and every way of completion must get right. What each of them proves: no command
// lost, duplicated, reordered or torn; no entry overwritten before it is consumed; PROD only forward and at most a lap
// ahead; a completed sync implies the effects; stores before the insertion are visible to the device, stores after the
// completed sync are not.
#pragma once

#include "../support/queue_scenario.hpp"

#define CMDQ_EVERYTHING "all guarantees of the queue"

// clang-format off
#define CMDQ_CASES(prefix, wide, bound)                                                                                      \
  {                                                                                                                   \
    {{"queue/" prefix "/search_2x1", CMDQ_EVERYTHING, "2 producers, 1 list of 1, ring of 4, start at 3", 3,           \
      schedule::bounded, 0, bound},                                                                                       \
     {.first = 3, .device = {.msi_64_bit = wide}}},                                                                   \
    {{"queue/" prefix "/search_1x3", CMDQ_EVERYTHING, "1 producer, 3 lists of 1, ring of 4, start at 6", 2,           \
      schedule::bounded, 0, 2},                                                                                       \
     {.first = 6, .producers = 1, .lists = 3, .device = {.msi_64_bit = wide}}},                                       \
    {{"queue/" prefix "/2x3", CMDQ_EVERYTHING, "2 producers, 3 lists of 1, ring of 4, every start", 3,                \
      schedule::random, 3000},                                                                                              \
     {.lists = 3, .device = {.msi_64_bit = wide}}},                                                                   \
    {{"queue/" prefix "/3x2", CMDQ_EVERYTHING, "3 producers, 2 lists of 1, ring of 8, every start", 4,                \
      schedule::random, 3000},                                                                                              \
     {.log2 = 3, .producers = 3, .lists = 2, .device = {.msi_64_bit = wide}}},                                        \
    {{"queue/" prefix "/2x2x2_lazy", CMDQ_EVERYTHING,                                                                 \
      "2 producers, 2 lists of 2, ring of 8, every start; CONS moves only when the ring is empty", 3,                 \
      schedule::random, 3000},                                                                                              \
     {.log2 = 3, .lists = 2, .commands = 2, .device = {.lazy = true, .msi_64_bit = wide}}},                           \
    {{"queue/" prefix "/2x2_late", CMDQ_EVERYTHING,                                                                   \
      "2 producers, 2 lists of 1, ring of 4, every start; effects only at the CMD_SYNC, MSI after CONS", 3,           \
      schedule::random, 3000},                                                                                              \
     {.lists = 2, .device = {.msi_64_bit = wide, .msi_late = true, .defer_effects = true}}},                          \
    {{"queue/" prefix "/unsynced", CMDQ_EVERYTHING " for lists that a later sync covers",                             \
      "2 producers, 2 unsynced lists and a synced one, ring of 8, every start", 3, schedule::random, 3000},                 \
     {.log2 = 3, .lists = 3, .unsynced = true, .device = {.msi_64_bit = wide}}},                                      \
    {{"queue/" prefix "/tickets", CMDQ_EVERYTHING " for tickets",                                                     \
      "2 producers, 2 tickets and a waited list, ring of 8, every start", 3, schedule::random, 3000},                       \
     {.log2 = 3, .lists = 3, .tickets = true, .device = {.msi_64_bit = wide}}},                                       \
    {{"queue/" prefix "/illegal", "an illegal command's own caller is told, nobody else; the queue goes on (L36)",    \
      "2 producers, 2 lists of 1, the first of producer 0 illegal, ring of 4, every start", 3, schedule::random, 3000},     \
     {.lists = 2, .illegal = 0, .device = {.msi_64_bit = wide}}},                                                     \
  }
// clang-format on
