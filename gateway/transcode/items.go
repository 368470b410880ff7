package transcode

// Items writes messages one by one. Like the JSON of a list, it copies fragments that repeat.
type Items struct{ memo *memo }

// NewItems returns an Items. The caller must call Close.
func NewItems() *Items { return &Items{takeMemo(memoFrom)} }

// Append appends the JSON of a message of type p to dst. It fails like AppendJSON.
func (s *Items) Append(dst []byte, p *Plan, wire []byte) ([]byte, error) {
	return s.memo.appendOuter(dst, p, wire, position{memo: s.memo, inItem: true})
}

// Close releases the memory of the fragments.
func (s *Items) Close() {
	s.memo.give()
	s.memo = nil
}
