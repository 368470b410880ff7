// Package segment calculates with the times of a shift: its segments, its breaks, and the remainder
// after leave.
package segment
