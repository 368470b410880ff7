// Package segment calculates with the times of a shift: its segments and breaks,
// and what is left of it when somebody is on leave for a part of it.
package segment
