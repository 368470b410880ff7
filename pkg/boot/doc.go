// Package boot starts and stops programs: it handles their settings, signals, log and admin
// listener, and stops their parts in order.
package boot
