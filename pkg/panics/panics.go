// Package panics turns panics into errors.
package panics

import (
	"fmt"
	"runtime/debug"
)

// Error is a recovered panic, with the stack of the goroutine that panicked.
type Error struct {
	Value any
	Stack []byte
}

// Error returns the value of the panic and the stack, because code that logs the error has no other
// source of it.
func (e *Error) Error() string { return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack) }

// Unwrap returns the error that the goroutine panicked with, or nil.
func (e *Error) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// ToError sets err to an *Error if the goroutine panics. Defer it:
//
//	defer panics.ToError(&err)
func ToError(err *error) {
	if p := recover(); p != nil {
		*err = &Error{Value: p, Stack: debug.Stack()}
	}
}
