// Package operation shows how the standalone program behaves in the hands of an
// operator: what it says when it cannot start, how it stops, what outlives a
// crash, and what its listener refuses.
package operation
