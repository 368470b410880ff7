// Package schedule reads schedules: it puts together what spans say, what
// people entered and which days are locked, for the employees and days that a
// caller asks for.
//
// Nothing of what a pattern produces is stored day by day. The entries of a
// pattern are compiled once into the bytes of the answer, with holes for what
// differs from day to day, and a reading fills the holes. No message is built
// for a generated entry: the answer's bytes travel as the unknown fields of the
// typed message, and every gRPC client decodes them as usual.
package schedule
