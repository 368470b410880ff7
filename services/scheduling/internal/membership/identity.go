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

// identify determines the persons of the valid items. Ids and person numbers are resolved here;
// commons resolves all other properties.
func (h *Handler) identify(ctx context.Context, persons []*schedulingv1.PersonEmploymentTerms, items []*item) error {
	var unresolved []*item
	var identities []*commonsv1.PersonIdentity
	for i, it := range items {
		switch identity := persons[i].GetPersonIdentity(); {
		case it.err != nil:
		case isForCommons(identity):
			unresolved, identities = append(unresolved, it), append(identities, identity)
		default:
			it.person, it.err = readIdentity(identity)
		}
	}
	if len(unresolved) == 0 {
		return nil
	}
	found, err := h.persons.Identify(ctx, &commonsv1.IdentifyPersonsRequest{Identities: identities})
	if err != nil {
		return err
	}
	if len(found) != len(unresolved) {
		return fmt.Errorf("commons identified %d persons of %d", len(found), len(unresolved))
	}
	for i, p := range found {
		unresolved[i].person.id = p.GetPersonId()
		if failed := p.GetError(); failed != nil {
			unresolved[i].err = fault.Invalid(failed.GetErrorCode(), failed.GetMessage())
		}
	}
	return nil
}

// isForCommons reports whether only commons can resolve an identity.
func isForCommons(id *commonsv1.PersonIdentity) bool {
	return id != nil && (id.UserName != nil || id.BadgeNumber != nil || id.Aoid != nil || id.Coid != nil)
}

// readIdentity returns the property that names a person. The keys of a person, of the employee
// and of the user are the same number.
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

// criterionPerson is a person of a criterion.
type criterionPerson struct {
	key personKey
	// identity describes the person in failures.
	identity *commonsv1.PersonIdentity
	// err is the reason why the person was not found, or nil.
	err *fault.Error
}

// criterion returns the persons of a criterion, in their order. Commons resolves criteria with
// other properties than ids or person numbers.
func (h *Handler) criterion(ctx context.Context, where *commonsv1.PersonWhere) ([]criterionPerson, error) {
	if keys, ok, err := readKeys(where); ok {
		return keys, err
	}
	found, err := h.persons.Identify(ctx, &commonsv1.IdentifyPersonsRequest{Where: where})
	if err != nil {
		return nil, err
	}
	out := make([]criterionPerson, len(found))
	for i, p := range found {
		out[i] = criterionPerson{key: personKey{id: p.GetPersonId()}, identity: p.GetIdentity()}
		if failed := p.GetError(); failed != nil {
			out[i].err = fault.Invalid(failed.GetErrorCode(), failed.GetMessage())
		}
	}
	return out, nil
}

// readKeys returns the persons of a criterion that consists of ids or person numbers and has no
// filter. It reports whether the criterion has this form.
func readKeys(where *commonsv1.PersonWhere) ([]criterionPerson, bool, error) {
	c := where.GetEmployees()
	kind := strings.ToLower(c.GetKey())
	if kind != "personid" && kind != "personnumber" || len(c.GetMultiKey())+len(c.GetMultiKeyValues()) > 0 ||
		where.GetSnapshotDate() != "" || where.GetSnapshotDateTime() != "" || where.GetOnlyActivePerson() || where.GetHyperFindFilter() != nil {
		return nil, false, nil
	}
	if len(c.GetValues()) == 0 {
		return nil, true, fault.Invalid(CodeValues, "where.employees.values is empty.")
	}
	out := make([]criterionPerson, len(c.GetValues()))
	for i, value := range c.GetValues() {
		switch id, err := strconv.ParseInt(value, 10, 64); {
		case value == "":
			return nil, true, fault.Invalid(CodeValues, "where.employees.values has an empty value.")
		case kind == "personnumber":
			out[i] = criterionPerson{key: personKey{number: value}, identity: &commonsv1.PersonIdentity{PersonNumber: proto.String(value)}}
		case err != nil || id <= 0:
			return nil, true, fault.Invalid(CodeValues, fmt.Sprintf("where.employees.values: %q is not the id of a person.", value))
		default:
			out[i] = criterionPerson{key: personKey{id: id}, identity: &commonsv1.PersonIdentity{PersonKey: proto.Int64(id)}}
		}
	}
	return out, true, nil
}
