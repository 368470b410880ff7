// Package model compares the running product with a model of its rules that walks
// through every day. Random operations of planners and of people go to real
// processes, which are killed meanwhile; the model does the same in memory, without
// spans, layers, cycles in closed form or events. What both show must be equal: ids,
// times, flags, locks, and whom hyperfinds find.
//
// A run prints its seed. ROTALOOM_MODEL_SEED repeats one, and ROTALOOM_MODEL says how
// long to go on ("1h").
package model
