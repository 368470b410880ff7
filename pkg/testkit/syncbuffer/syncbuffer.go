// Package syncbuffer has a buffer that a test reads while something else writes to it.
package syncbuffer

import (
	"bytes"
	"sync"
)

// Buffer is a [bytes.Buffer] for tests that read what a program logs or prints while it
// runs. Its zero value is empty. It is safe for concurrent use.
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

// String returns all that was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}
