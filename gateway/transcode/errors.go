package transcode

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// maxNameInError bounds how much of a caller's own text an error repeats.
const maxNameInError = 80

// problem is what is wrong with an input. The path to the property is put
// together while the readers return, so that it costs nothing when all is well.
type problem struct {
	code   string
	reason string // follows the name of the property or "the body"
	path   string
	status int // of HTTP; 400 when 0
}

func (p *problem) Error() string { return p.code + ": " + p.path + " " + p.reason }

func problemf(code, format string, args ...any) *problem {
	return &problem{code: code, reason: fmt.Sprintf(format, args...)}
}

// in says that p was found inside the named property.
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

// at says that p was found in an item of a list.
func (p *problem) at(index int) *problem {
	return p.in("[" + strconv.Itoa(index) + "]")
}

// fault is the problem as the caller sees it.
func (p *problem) fault() *fault.Error {
	subject := "The body"
	if p.path != "" {
		subject = strconv.Quote(p.path)
	}
	return fault.New(p.code, cmp.Or(p.status, http.StatusBadRequest), subject+" "+p.reason+".")
}

func shorten(s []byte) string {
	if len(s) > maxNameInError {
		return string(s[:maxNameInError]) + "..."
	}
	return string(s)
}
