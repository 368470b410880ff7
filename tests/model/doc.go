// Package model compares the running product with a model of its rules that walks through every
// day. Random operations of planners and employees go to real processes, some of which are killed
// in between. The model performs the same operations in memory, without spans, layers, closed-form
// cycles or events. Both must show the same ids, times, flags and locks, and hyperfinds must find
// the same persons.
//
// A run prints its seed. ROTALOOM_MODEL_SEED repeats a run, and ROTALOOM_MODEL sets its duration
// ("1h").
package model
