// Package syncbuffer has a buffer for concurrent writing and reading in tests.
package syncbuffer

import (
	"bytes"
	"sync"
)

// Buffer is a [bytes.Buffer] for tests that read a program's output while it runs. Its zero value
// is empty. It is safe for concurrent use.
type Buffer struct {
	mu  sync.Mutex
	out bytes.Buffer
}

// Write appends to the buffer. It never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

// String returns everything written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}
