package transcode

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// space skips white space.
func (d *decoder) space() {
	for d.pos < len(d.in) {
		switch d.in[d.pos] {
		case ' ', '\n', '\r', '\t':
			d.pos++
		default:
			return
		}
	}
}

// peek returns the byte at the position, or 0 at the end.
func (d *decoder) peek() byte {
	if d.pos < len(d.in) {
		return d.in[d.pos]
	}
	return 0
}

// syntax returns the problem of malformed JSON at the position. It has no path, because the byte offset locates
// it.
func (d *decoder) syntax(reason string) *problem {
	return problemf(fault.CodeValue, "is not valid JSON at byte %d: %s", d.pos, reason)
}

// notExpected returns the problem of a scalar, or of no value, where a compound value is expected.
func (d *decoder) notExpected(expected string) *problem {
	switch c := d.peek(); {
	case c == '"', c == 't', c == 'f', c == 'n', c == '-', c >= '0' && c <= '9':
		return problemf(fault.CodeStructure, "is a single value, but %s is expected", expected)
	}
	return d.syntax("a value is expected")
}

// text reads a quoted text and returns it without the quotes. The result is valid until the next call.
func (d *decoder) text() ([]byte, *problem) {
	d.pos++ // "
	for i := d.pos; i < len(d.in); i++ {
		switch c := d.in[i]; {
		case c == '"':
			s := d.in[d.pos:i]
			d.pos = i + 1
			return s, nil
		case c == '\\':
			return d.escapedText(i)
		case c < 0x20:
			d.pos = i
			return nil, d.syntax("a control character must be escaped")
		}
	}
	d.pos = len(d.in)
	return nil, d.syntax("the closing quote is missing")
}

// escapedText reads the rest of a text whose first escape is at i.
func (d *decoder) escapedText(i int) ([]byte, *problem) {
	s := append(d.scratch[:0], d.in[d.pos:i]...)
	d.pos = i
	for d.pos < len(d.in) {
		c := d.in[d.pos]
		switch {
		case c == '"':
			d.pos++
			d.scratch = s
			return s, nil
		case c < 0x20:
			return nil, d.syntax("a control character must be escaped")
		case c != '\\':
			s = append(s, c)
			d.pos++
			continue
		}
		var bad *problem
		if s, bad = d.escape(s); bad != nil {
			return nil, bad
		}
	}
	return nil, d.syntax("the closing quote is missing")
}

// escape reads one escape and appends its character.
func (d *decoder) escape(s []byte) ([]byte, *problem) {
	const plain, meaning = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if d.pos+1 >= len(d.in) {
		return s, d.syntax("the escape is cut off")
	}
	c := d.in[d.pos+1]
	for i := range len(plain) {
		if plain[i] == c {
			d.pos += 2
			return append(s, meaning[i]), nil
		}
	}
	r, ok := d.unicode(d.pos)
	if !ok {
		return s, d.syntax("the escape is unknown")
	}
	size := 6
	if utf16.IsSurrogate(r) {
		low, ok := d.unicode(d.pos + size)
		if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
			return s, d.syntax("half of a surrogate pair is missing")
		}
		size += 6
	}
	if r == 0 {
		return s, d.syntax("U+0000 is not accepted in a text")
	}
	d.pos += size
	return utf8.AppendRune(s, r), nil
}

// unicode reads an escape \uXXXX at i.
func (d *decoder) unicode(i int) (rune, bool) {
	if i+6 > len(d.in) || d.in[i] != '\\' || d.in[i+1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(d.in[i+2:i+6]), 16, 16)
	return rune(v), err == nil
}

// number reads a JSON number and returns its text.
func (d *decoder) number() ([]byte, *problem) {
	start := d.pos
	if d.peek() == '-' {
		d.pos++
	}
	if d.peek() == '0' {
		d.pos++
	} else if !d.digits() {
		return nil, d.syntax("a value is expected")
	}
	if d.peek() == '.' {
		d.pos++
		if !d.digits() {
			return nil, d.syntax("a digit is expected")
		}
	}
	if c := d.peek(); c == 'e' || c == 'E' {
		d.pos++
		if c := d.peek(); c == '+' || c == '-' {
			d.pos++
		}
		if !d.digits() {
			return nil, d.syntax("a digit is expected")
		}
	}
	return d.in[start:d.pos], nil
}

// digits skips digits, and reports whether there was at least one.
func (d *decoder) digits() bool {
	start := d.pos
	for d.pos < len(d.in) && d.in[d.pos]-'0' <= 9 {
		d.pos++
	}
	return d.pos > start
}

// checkText refuses texts that the system cannot store.
func checkText(text string) *problem {
	switch {
	case !utf8.ValidString(text):
		return problemf(fault.CodeValue, "is not encoded in UTF-8")
	case strings.IndexByte(text, 0) >= 0:
		return problemf(fault.CodeValue, "contains the character U+0000")
	}
	return nil
}
