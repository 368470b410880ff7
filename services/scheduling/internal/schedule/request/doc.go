// Package request reads the requests for schedules, in each of their dialects,
// into one Query. It asks nobody: what a hyperfind query, a location or a
// symbolic period stands for is found out later.
package request
