// Package scheduleevent sends others what schedules follow from, so that they can keep a
// copy: patterns, spans, shifts that people entered, and leave. Nothing that
// can be computed is published.
//
// Events carry states and not steps. Each has a revision, taken from one
// sequence while the employees are locked, so that whoever keeps the copy can
// decide which of two states of an employee is the later one, in whatever order
// and however often they come.
package scheduleevent
