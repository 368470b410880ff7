// Package scheduleevent tells others what schedules follow from, so that they can keep a
// copy: patterns, spans, shifts that people entered, and leave. Nothing that
// can be computed is told.
//
// Events carry states and not steps. Each has a revision, taken from one
// sequence while the employees are locked, so that whoever keeps the copy can
// tell which of two states of an employee is the later one, in whatever order
// and however often they come.
package scheduleevent
