// Package model compares the running product with a model of its rules that walks through every
// day. Random operations of planners and employees go to real processes, some of which are killed
// in between. The model performs the same operations in memory, without spans, layers, closed-form
// cycles or events. Both must show the same ids, times, flags and locks, and hyperfinds must find
// the same persons.
//
// A second model has locations and persons day by day: paths, members of locations, groups of managers and
// wages by job, after random moves, renames and ends.
//
// A run prints its seed. ROTALOOM_MODEL_SEED repeats a run, and ROTALOOM_MODEL sets its duration
// ("1h").
package model
