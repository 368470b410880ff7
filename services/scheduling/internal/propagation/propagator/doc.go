// Package propagator plans propagations, works on their batches, and asks again for what
// stands still. Package propagation says how that fits together.
package propagator
