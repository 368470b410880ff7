package membership

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// identify finds out whom the good items are about. Ids and person numbers are
// known here; who is named in another way is asked of commons.
func (h *Handler) identify(ctx context.Context, persons []*schedulingv1.PersonEmploymentTerms, items []*item) error {
	var asked []*item
	var identities []*commonsv1.PersonIdentity
	for i, it := range items {
		switch identity := persons[i].GetPersonIdentity(); {
		case it.err != nil:
		case isForCommons(identity):
			asked, identities = append(asked, it), append(identities, identity)
		default:
			it.person, it.err = readIdentity(identity)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	found, err := h.persons.Identify(ctx, &commonsv1.IdentifyPersonsRequest{Identities: identities})
	if err != nil {
		return err
	}
	if len(found) != len(asked) {
		return fmt.Errorf("commons identified %d persons of %d", len(found), len(asked))
	}
	for i, p := range found {
		asked[i].person.id = p.GetPersonId()
		if failed := p.GetError(); failed != nil {
			asked[i].err = fault.Invalid(failed.GetErrorCode(), failed.GetMessage())
		}
	}
	return nil
}

// isForCommons reports whether an identity has a property that only commons knows.
func isForCommons(id *commonsv1.PersonIdentity) bool {
	return id != nil && (id.UserName != nil || id.BadgeNumber != nil || id.Aoid != nil || id.Coid != nil)
}

// readIdentity returns the one property by which a person is named. A person, the
// employee and the user are the same, so their keys are as well.
func readIdentity(id *commonsv1.PersonIdentity) (personKey, error) {
	var keys []personKey
	if id != nil {
		for _, key := range []*int64{id.PersonKey, id.EmployeeKey, id.UserKey} {
			if key != nil {
				keys = append(keys, personKey{id: *key})
			}
		}
		if id.PersonNumber != nil {
			keys = append(keys, personKey{number: id.GetPersonNumber()})
		}
	}
	switch {
	case len(keys) == 0 || len(keys) == 1 && keys[0] == (personKey{}):
		return personKey{}, fault.Invalid(CodeNoIdentity, "personIdentity needs one property that names the person.")
	case len(keys) > 1:
		return personKey{}, fault.Invalid(CodeManyIdentities, "personIdentity has more than one property that names a person.")
	}
	return keys[0], nil
}

// identified is a person whom a criterion names.
type identified struct {
	key personKey
	// identity is how failures name the person.
	identity *commonsv1.PersonIdentity
	// err says why nobody was found, or is nil.
	err *fault.Error
}

// criterion returns the persons that a criterion names, in their order. One that
// says more than ids or person numbers is asked of commons.
func (h *Handler) criterion(ctx context.Context, where *commonsv1.PersonWhere) ([]identified, error) {
	if keys, ok, err := readKeys(where); ok {
		return keys, err
	}
	found, err := h.persons.Identify(ctx, &commonsv1.IdentifyPersonsRequest{Where: where})
	if err != nil {
		return nil, err
	}
	out := make([]identified, len(found))
	for i, p := range found {
		out[i] = identified{key: personKey{id: p.GetPersonId()}, identity: p.GetIdentity()}
		if failed := p.GetError(); failed != nil {
			out[i].err = fault.Invalid(failed.GetErrorCode(), failed.GetMessage())
		}
	}
	return out, nil
}

// readKeys returns the persons of a criterion that names them by id or person number
// and leaves nobody out. It reports whether the criterion is such a one.
func readKeys(where *commonsv1.PersonWhere) ([]identified, bool, error) {
	c := where.GetEmployees()
	kind := strings.ToLower(c.GetKey())
	if kind != "personid" && kind != "personnumber" || len(c.GetMultiKey())+len(c.GetMultiKeyValues()) > 0 ||
		where.GetSnapshotDate() != "" || where.GetSnapshotDateTime() != "" || where.GetOnlyActivePerson() || where.GetHyperFindFilter() != nil {
		return nil, false, nil
	}
	if len(c.GetValues()) == 0 {
		return nil, true, fault.Invalid(CodeValues, "where.employees.values is empty.")
	}
	out := make([]identified, len(c.GetValues()))
	for i, value := range c.GetValues() {
		switch id, err := strconv.ParseInt(value, 10, 64); {
		case value == "":
			return nil, true, fault.Invalid(CodeValues, "where.employees.values has an empty value.")
		case kind == "personnumber":
			out[i] = identified{key: personKey{number: value}, identity: &commonsv1.PersonIdentity{PersonNumber: proto.String(value)}}
		case err != nil || id <= 0:
			return nil, true, fault.Invalid(CodeValues, fmt.Sprintf("where.employees.values: %q is not the id of a person.", value))
		default:
			out[i] = identified{key: personKey{id: id}, identity: &commonsv1.PersonIdentity{PersonKey: proto.Int64(id)}}
		}
	}
	return out, true, nil
}
