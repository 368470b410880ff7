package gateway

import "io"

// relay writes the parts of an answer beside the making of the next ones: both
// take about as long. It works with two buffers that change hands.
type relay struct {
	to   io.Writer
	bufs *buffers

	parts   chan []byte // to be written
	written chan []byte // to be used again; closed after a failure
	err     error       // why written was closed
}

// flush takes a part over and answers the buffer to go on with.
func (r *relay) flush(part []byte) ([]byte, error) {
	if r.parts == nil {
		r.parts, r.written = make(chan []byte, 1), make(chan []byte, 1)
		go r.write()
		r.parts <- part
		return (*r.bufs.get())[:0], nil
	}
	next, ok := <-r.written
	if !ok {
		return nil, r.err
	}
	r.parts <- part
	return next[:0], nil
}

// write writes the parts until there are no more or one of them fails.
func (r *relay) write() {
	defer close(r.written)
	for part := range r.parts {
		if _, err := r.to.Write(part); err != nil {
			r.err = err
			return
		}
		r.written <- part
	}
}

// end waits until everything that was flushed is written, or says why it was
// not. The buffer of a part that failed is not used again: HTTP/2 may still be
// reading it.
func (r *relay) end() error {
	if r.parts == nil {
		return nil
	}
	close(r.parts)
	for part := range r.written {
		r.bufs.put(&part)
	}
	r.parts = nil
	return r.err
}
