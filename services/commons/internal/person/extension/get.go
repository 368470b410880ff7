package extension

import (
	"context"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// Get returns one extension of a person today, or all of them.
func (e Extensions) Get(ctx context.Context, req *commonsv1.GetPersonExtensionRequest) (*commonsv1.PersonExtension, error) {
	kind, err := readExtension("extensionType", req.GetExtensionType())
	if err != nil {
		return nil, err
	}
	k, err := readParameters(req)
	if err != nil {
		return nil, err
	}
	known, err := e.Reader.Load(ctx, []store.Key{k})
	if err != nil {
		return nil, err
	}
	p := known[k]
	if p == nil {
		return nil, k.NotFound()
	}
	v := e.newView(p, e.Reader.Today(ctx), true)
	if err := e.findManagers(ctx, []*view{v}); err != nil {
		return nil, err
	}
	out := &commonsv1.PersonExtension{}
	v.extend(out, kind)
	return out, nil
}

// readParameters returns the person in the parameters, which name the person by number or by
// external ids.
func readParameters(req *commonsv1.GetPersonExtensionRequest) (store.Key, error) {
	external := [2]string{req.GetAoid(), req.GetCoid()}
	switch {
	case req.GetPersonNumber() != "" && external != [2]string{}:
		return store.Key{}, fault.Invalid(rules.CodeManyIdentities, "Name the person by person_number, or by aoid and coid, and not by both.")
	case req.GetPersonNumber() != "":
		return store.Key{Number: req.GetPersonNumber()}, nil
	case external == [2]string{}:
		return store.Key{}, fault.Invalid(rules.CodeNoIdentity, "Name the person by the parameter person_number, or by aoid and coid.")
	case external[0] == "" || external[1] == "":
		return store.Key{}, fault.Invalid(rules.CodeCombination, "The parameters aoid and coid go together.")
	}
	return store.Key{External: external}, nil
}

// readExtension returns the kind of an extension, or "" for all of them.
func readExtension(path, given string) (string, error) {
	kind := strings.ToLower(given)
	if kind != "" && !slices.Contains(kinds, kind) {
		return "", fault.Invalid(CodeExtension, suggest.NotOneOf(path, given, kinds...))
	}
	return kind, nil
}

func (e Extensions) newView(p *store.Person, day civil.Date, wages bool) *view {
	p.FillCurrent(day)
	return &view{Person: p, day: day, wages: wages, currency: e.DefaultCurrency}
}
