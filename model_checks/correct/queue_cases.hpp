// SPDX-License-Identifier: BSL-1.0
// The workloads that every strategy and every way of completion must get right. What each of them proves: no command
// lost, duplicated, reordered or torn; no entry overwritten before it is consumed; PROD only forward and at most a lap
// ahead; a completed sync implies the effects; stores before the insertion are visible to the device, stores after the
// completed sync are not.
#pragma once

#include "../support/queue_scenario.hpp"

#define CMDQ_EVERYTHING "all guarantees of the queue"

// clang-format off
#define CMDQ_CASES(prefix, wide, bound)                                                                               \
  {                                                                                                                   \
    {{"queue/" prefix "/search_2x1", CMDQ_EVERYTHING, "2 producers, 1 list of 1, ring of 4, start at 3", 3,           \
      schedule::bounded, 0, bound},                                                                                   \
     {.first = 3, .device = {.msi_64_bit = wide}}},                                                                   \
    {{"queue/" prefix "/search_1x3", CMDQ_EVERYTHING, "1 producer, 3 lists of 1, ring of 4, start at 6", 2,           \
      schedule::bounded, 0, 2},                                                                                       \
     {.first = 6, .producers = 1, .lists = 3, .device = {.msi_64_bit = wide}}},                                       \
    {{"queue/" prefix "/search_2x2", CMDQ_EVERYTHING,                                                                 \
      "2 producers, 2 lists of 1, ring of 4, start at 3: entries are used again", 3,                                  \
      schedule::bounded, 0, 1},                                                                                       \
     {.first = 3, .lists = 2, .device = {.msi_64_bit = wide}}},                                                       \
    {{"queue/" prefix "/2x3", CMDQ_EVERYTHING, "2 producers, 3 lists of 1, ring of 4, every start", 3,                \
      schedule::random, 3000},                                                                                        \
     {.lists = 3, .device = {.msi_64_bit = wide}}},                                                                   \
    {{"queue/" prefix "/3x2", CMDQ_EVERYTHING, "3 producers, 2 lists of 1, ring of 8, every start", 4,                \
      schedule::random, 3000},                                                                                        \
     {.log2 = 3, .producers = 3, .lists = 2, .device = {.msi_64_bit = wide}}},                                        \
    {{"queue/" prefix "/2x2x2_lazy", CMDQ_EVERYTHING,                                                                 \
      "2 producers, 2 lists of 2, ring of 8, every start; CONS moves only when the ring is empty", 3,                 \
      schedule::random, 3000},                                                                                        \
     {.log2 = 3, .lists = 2, .commands = 2, .device = {.lazy = true, .msi_64_bit = wide}}},                           \
    {{"queue/" prefix "/2x2_late", CMDQ_EVERYTHING,                                                                   \
      "2 producers, 2 lists of 1, ring of 4, every start; effects only at the CMD_SYNC, MSI after CONS", 3,           \
      schedule::random, 3000},                                                                                        \
     {.lists = 2, .device = {.msi_64_bit = wide, .msi_late = true, .defer_effects = true}}},                          \
    {{"queue/" prefix "/unsynced", CMDQ_EVERYTHING " for lists that a later sync covers",                             \
      "2 producers, 2 unsynced lists and a synced one, ring of 16, every start", 3, schedule::random, 3000},           \
     {.log2 = 4, .lists = 3, .unsynced = true, .device = {.msi_64_bit = wide}}},                                      \
    {{"queue/" prefix "/tickets", CMDQ_EVERYTHING " for tickets",                                                     \
      "2 producers, 2 tickets and a waited list, ring of 16, every start", 3, schedule::random, 3000},                 \
     {.log2 = 4, .lists = 3, .tickets = true, .device = {.msi_64_bit = wide}}},                                       \
    {{"queue/" prefix "/illegal", "an illegal command's own caller is told, nobody else; the queue goes on (L36)",    \
      "2 producers, 2 lists of 1, the first of producer 0 illegal, ring of 4, every start", 3,                        \
      schedule::random, 3000},                                                                                        \
     {.lists = 2, .illegal = 0, .device = {.msi_64_bit = wide}}},                                                     \
  }

// Lists that gather in groups of threads before the ring.
#define CMDQ_GROUPED_CASES(prefix, wide, bound)                                                                       \
  {                                                                                                                   \
    {{"queue/" prefix "/grouped/search_2x1", CMDQ_EVERYTHING,                                                         \
      "2 producers of one group, 1 list of 1, ring of 4, start at 3", 3,                                              \
      schedule::bounded, 0, bound},                                                                                   \
     {.first = 3, .groups = 2, .device = {.msi_64_bit = wide}}},                                                      \
    {{"queue/" prefix "/grouped/search_2x1_apart", CMDQ_EVERYTHING,                                                   \
      "2 producers of two groups, 1 list of 1, ring of 4, start at 3", 3,                                             \
      schedule::bounded, 0, 1},                                                                                       \
     {.first = 3, .groups = 2, .group_size = 1, .device = {.msi_64_bit = wide}}},                                     \
    {{"queue/" prefix "/grouped/search_2x2_apart", CMDQ_EVERYTHING,                                                   \
      "2 producers of two groups, 2 lists of 1, ring of 4, start at 3: entries are used again", 3,                    \
      schedule::bounded, 0, 1},                                                                                       \
     {.first = 3, .lists = 2, .groups = 2, .group_size = 1, .device = {.msi_64_bit = wide}}},                         \
    {{"queue/" prefix "/grouped/search_2x2", CMDQ_EVERYTHING,                                                         \
      "2 producers of one group, 2 lists of 1, ring of 4, start at 3: entries are used again", 3,                     \
      schedule::bounded, 0, 1},                                                                                       \
     {.first = 3, .lists = 2, .groups = 2, .device = {.msi_64_bit = wide}}},                                          \
    {{"queue/" prefix "/grouped/search_2x2_unsynced", CMDQ_EVERYTHING " for a list led by one that nobody waits for", \
      "2 producers of one group; one leaves the first of its 2 lists of 1, ring of 16, start at 13", 3,                 \
      schedule::bounded, 0, 1},                                                                                       \
     {.log2 = 4, .first = 13, .lists = 2, .unsynced = true, .waiting = 2, .groups = 2,                                 \
      .device = {.msi_64_bit = wide}}},                                                                               \
    {{"queue/" prefix "/grouped/search_2x2_ticket", CMDQ_EVERYTHING " for a list led by a ticket",                    \
      "2 producers of one group; one has a ticket for the first of its 2 lists of 1, ring of 16, start at 13", 3,       \
      schedule::bounded, 0, 1},                                                                                       \
     {.log2 = 4, .first = 13, .lists = 2, .tickets = true, .waiting = 2, .groups = 2, .device = {.msi_64_bit = wide}}},\
    {{"queue/" prefix "/grouped/2x3", CMDQ_EVERYTHING,                                                                \
      "2 producers of one group, 3 lists of 1, ring of 4, every start", 3,                                            \
      schedule::random, 3000},                                                                                        \
     {.lists = 3, .groups = 2, .device = {.msi_64_bit = wide}}},                                                      \
    {{"queue/" prefix "/grouped/2x3_apart", CMDQ_EVERYTHING,                                                          \
      "2 producers of two groups, 3 lists of 1, ring of 4, every start", 3,                                           \
      schedule::random, 3000},                                                                                        \
     {.lists = 3, .groups = 2, .group_size = 1, .device = {.msi_64_bit = wide}}},                                     \
    {{"queue/" prefix "/grouped/3x2", CMDQ_EVERYTHING,                                                                \
      "3 producers of one group, 2 lists of 1, ring of 8, every start", 4,                                            \
      schedule::random, 3000},                                                                                        \
     {.log2 = 3, .producers = 3, .lists = 2, .groups = 2, .group_size = 3, .device = {.msi_64_bit = wide}}},          \
    {{"queue/" prefix "/grouped/2and1x2", CMDQ_EVERYTHING,                                                            \
      "2 producers of one group and 1 of another, 2 lists of 1, ring of 8, every start", 4,                           \
      schedule::random, 3000},                                                                                        \
     {.log2 = 3, .producers = 3, .lists = 2, .groups = 2, .device = {.msi_64_bit = wide}}},                           \
    {{"queue/" prefix "/grouped/2x2x2_lazy", CMDQ_EVERYTHING,                                                         \
      "2 producers of one group, 2 lists of 2, ring of 8, every start; CONS moves only when the ring is empty", 3,    \
      schedule::random, 3000},                                                                                        \
     {.log2 = 3, .lists = 2, .commands = 2, .groups = 2, .device = {.lazy = true, .msi_64_bit = wide}}},              \
    {{"queue/" prefix "/grouped/2x2_late", CMDQ_EVERYTHING,                                                           \
      "2 producers of one group, 2 lists of 1, ring of 4, every start; effects only at the CMD_SYNC, MSI after CONS", \
      3, schedule::random, 3000},                                                                                     \
     {.lists = 2, .groups = 2, .device = {.msi_64_bit = wide, .msi_late = true, .defer_effects = true}}},             \
    {{"queue/" prefix "/grouped/unsynced", CMDQ_EVERYTHING " for lists that a later sync covers",                     \
      "2 producers of one group, 2 unsynced lists and a synced one, ring of 16, every start", 3,                       \
      schedule::random, 3000},                                                                                        \
     {.log2 = 4, .lists = 3, .unsynced = true, .groups = 2, .device = {.msi_64_bit = wide}}},                         \
    {{"queue/" prefix "/grouped/unsynced_beside", CMDQ_EVERYTHING " for lists led by one that nobody waits for",      \
      "2 producers of one group, 3 lists of 1; one waits for its last only, ring of 16, every start", 3,               \
      schedule::random, 3000},                                                                                        \
     {.log2 = 4, .lists = 3, .unsynced = true, .waiting = 2, .groups = 2, .device = {.msi_64_bit = wide}}},           \
    {{"queue/" prefix "/grouped/tickets", CMDQ_EVERYTHING " for tickets",                                             \
      "2 producers of one group, 2 tickets and a waited list, ring of 16, every start", 3,                             \
      schedule::random, 3000},                                                                                        \
     {.log2 = 4, .lists = 3, .tickets = true, .groups = 2, .device = {.msi_64_bit = wide}}},                          \
    {{"queue/" prefix "/grouped/tickets_beside", CMDQ_EVERYTHING " for lists led by a ticket",                        \
      "2 producers of one group, 3 lists of 1; one has tickets for its first 2, ring of 16, every start", 3,           \
      schedule::random, 3000},                                                                                        \
     {.log2 = 4, .lists = 3, .tickets = true, .waiting = 2, .groups = 2, .device = {.msi_64_bit = wide}}},            \
    {{"queue/" prefix "/grouped/illegal",                                                                             \
      "an illegal command's own caller is told, nobody else in its group; the queue goes on (L36)",                   \
      "2 producers of one group, 2 lists of 1, the first of producer 0 illegal, ring of 4, every start", 3,           \
      schedule::random, 3000},                                                                                        \
     {.lists = 2, .illegal = 0, .groups = 2, .device = {.msi_64_bit = wide}}},                                        \
    {{"queue/" prefix "/grouped/2and1x2_illegal",                                                                     \
      "an illegal command's own caller is told, nobody else in its group or another; the queue goes on (L36)",        \
      "2 producers of one group and 1 of another, 2 lists of 1, one illegal, ring of 8, every start", 4,              \
      schedule::random, 3000},                                                                                        \
     {.log2 = 3, .producers = 3, .lists = 2, .illegal = tag_of(1, 0, 0), .groups = 2,                                 \
      .device = {.msi_64_bit = wide}}},                                                                               \
  }

// Rings of 2 entries, which make_plan refuses: 1 list with its CMD_SYNC fits, or 2 CMD_SYNCs.
#define CMDQ_RING_OF_2_CASES(prefix, wide, bound)                                                                     \
  {                                                                                                                   \
    {{"queue/" prefix "/ring_of_2/search_1x3", CMDQ_EVERYTHING,                                                       \
      "1 producer, 3 lists of 1, ring of 2, start at 3", 2,                                                           \
      schedule::bounded, 0, 2},                                                                                       \
     {.log2 = 1, .first = 3, .producers = 1, .lists = 3, .unchecked = true, .device = {.msi_64_bit = wide}}},         \
    {{"queue/" prefix "/ring_of_2/search_2x1", "a lone CMD_SYNC ends",                                                \
      "2 producers, 1 lone CMD_SYNC each, ring of 2, start at 1", 3,                                                  \
      schedule::bounded, 0, bound},                                                                                   \
     {.log2 = 1, .first = 1, .commands = 0, .unchecked = true, .device = {.msi_64_bit = wide}}},                      \
    {{"queue/" prefix "/ring_of_2/1x4", CMDQ_EVERYTHING,                                                              \
      "1 producer, 4 lists of 1, ring of 2, every start", 2,                                                          \
      schedule::random, 1000},                                                                                        \
     {.log2 = 1, .producers = 1, .lists = 4, .unchecked = true, .device = {.msi_64_bit = wide}}},                     \
    {{"queue/" prefix "/ring_of_2/2x3", "lone CMD_SYNCs end",                                                         \
      "2 producers, 3 lone CMD_SYNCs each, ring of 2, every start", 3,                                                \
      schedule::random, 3000},                                                                                        \
     {.log2 = 1, .lists = 3, .commands = 0, .unchecked = true, .device = {.msi_64_bit = wide}}},                      \
  }
// clang-format on
