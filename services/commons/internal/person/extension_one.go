package person

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// get answers an extension of one person today, or all of them.
func (e extensions) get(ctx context.Context, req *commonsv1.GetPersonExtensionRequest) (*commonsv1.PersonExtension, error) {
	kind, err := readExtension("extensionType", req.GetExtensionType())
	if err != nil {
		return nil, err
	}
	k, err := readParameters(req)
	if err != nil {
		return nil, err
	}
	known, err := e.reader.known(ctx, tenantOf(ctx), []key{k})
	if err != nil {
		return nil, err
	}
	p := known[k]
	if p == nil {
		return nil, k.unknown()
	}
	v := newView(p, e.reader.today(), true)
	if err := e.findManagers(ctx, []*view{v}); err != nil {
		return nil, err
	}
	out := &commonsv1.PersonExtension{}
	v.extend(out, kind)
	return out, nil
}

// readParameters answers the person whom the parameters name in one of two ways.
func readParameters(req *commonsv1.GetPersonExtensionRequest) (key, error) {
	external := [2]string{req.GetAoid(), req.GetCoid()}
	switch {
	case req.GetPersonNumber() != "" && external != [2]string{}:
		return key{}, fault.Invalid(CodeManyIdentities, "Name the person by person_number, or by aoid and coid, and not by both.")
	case req.GetPersonNumber() != "":
		return key{number: req.GetPersonNumber()}, nil
	case external == [2]string{}:
		return key{}, fault.Invalid(CodeNoIdentity, "Name the person by the parameter person_number, or by aoid and coid.")
	case external[0] == "" || external[1] == "":
		return key{}, fault.Invalid(CodeCombination, "The parameters aoid and coid go together.")
	}
	return key{external: external}, nil
}

// readExtension answers the kind of an extension, "" for all of them.
func readExtension(path, given string) (string, error) {
	kind := strings.ToLower(given)
	if kind != "" && !slices.Contains(kinds, kind) {
		return "", fault.Invalid(CodeExtension, fmt.Sprintf("%s: %.40q is none of %s.", path, given, strings.Join(kinds, ", ")))
	}
	return kind, nil
}

func newView(p *stored, day civil.Date, wages bool) *view {
	p.showCurrent(day)
	return &view{stored: p, day: day, wages: wages}
}
