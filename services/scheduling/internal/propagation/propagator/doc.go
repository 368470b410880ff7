// Package propagator plans propagations, processes their batches, and restarts stalled ones.
// Package propagation describes the design.
package propagator
