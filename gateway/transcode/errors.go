package transcode

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// maxNameInError is the longest part of a caller's text that an error repeats, in bytes.
const maxNameInError = 80

// problem is an error in an input. The path to the property is built while the readers return, so that valid
// input pays nothing for it.
type problem struct {
	code   string
	reason string // follows the name of the property or "the body"
	path   string
	hint   string // a sentence with a space before it, or ""
	status int    // HTTP status; 0 means 400
	fatal  bool   // whether the rest of the input cannot be read
}

func (p *problem) Error() string { return p.code + ": " + p.path + " " + p.reason }

func problemf(code, format string, args ...any) *problem {
	return &problem{code: code, reason: fmt.Sprintf(format, args...)}
}

// in adds the name of the property that contains p.
func (p *problem) in(name string) *problem {
	switch {
	case p.path == "":
		p.path = name
	case p.path[0] == '[':
		p.path = name + p.path
	default:
		p.path = name + "." + p.path
	}
	return p
}

// indexStep returns the step of a path to an item of a list.
func indexStep(index int) string { return "[" + strconv.Itoa(index) + "]" }

// fault returns the problem as an error for the caller.
func (p *problem) fault() *fault.Error {
	status := cmp.Or(p.status, http.StatusBadRequest)
	if p.path == "" {
		return fault.New(p.code, status, "The body "+p.reason+"."+p.hint)
	}
	// A name that was shortened may end within a character.
	return fault.New(p.code, status, strconv.Quote(p.path)+" "+p.reason+"."+p.hint).WithMembers(strings.ToValidUTF8(p.path, ""))
}

// recoverAt notes a problem of the value that begins at pos, and skips the value, so that the problems of the rest of
// the input are found as well. It drops the output from mark on. It returns the problem if the rest cannot be read, or
// if enough problems were found.
func (d *decoder) recoverAt(pos, mark int, bad *problem) *problem {
	d.pos, d.out = pos, d.out[:mark]
	if bad.fatal || bad.status != 0 || len(d.problems) >= fault.MaxViolations-1 || d.skip() != nil {
		bad.fatal = true
		return bad
	}
	d.problems = append(d.problems, bad)
	return nil
}

// name adds the name of the property, or the index, that contains the problems from a position on.
func (d *decoder) name(from int, step string) {
	for _, p := range d.problems[from:] {
		p.in(step)
	}
}

// fault returns the problems of an input as one error, or nil. last is the one that stopped the reader, or nil.
func (d *decoder) fault(last *problem) error {
	if last != nil {
		d.problems = append(d.problems, last)
	}
	errs := make([]error, 0, len(d.problems))
	for _, p := range d.problems {
		errs = append(errs, p.fault())
	}
	return fault.Join(errs...)
}

func shortenBytes(s []byte) string {
	if len(s) > maxNameInError {
		return string(s[:maxNameInError]) + "..."
	}
	return string(s)
}
