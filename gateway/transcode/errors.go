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
	status int // HTTP status; 0 means 400
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

// at adds the index of the list item that contains p.
func (p *problem) at(index int) *problem {
	return p.in("[" + strconv.Itoa(index) + "]")
}

// fault returns the problem as an error for the caller.
func (p *problem) fault() *fault.Error {
	status := cmp.Or(p.status, http.StatusBadRequest)
	if p.path == "" {
		return fault.New(p.code, status, "The body "+p.reason+".")
	}
	// A name that was shortened may end within a character.
	return fault.New(p.code, status, strconv.Quote(p.path)+" "+p.reason+".").WithMembers(strings.ToValidUTF8(p.path, ""))
}

func shortenBytes(s []byte) string {
	if len(s) > maxNameInError {
		return string(s[:maxNameInError]) + "..."
	}
	return string(s)
}
