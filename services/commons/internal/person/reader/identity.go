package reader

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/names"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// ParseIdentity returns the key in an identity, which must have exactly one property. Person,
// employee and user are the same, so their keys are the same too.
func ParseIdentity(id *commonsv1.PersonIdentity, today civil.Date) (store.Key, error) {
	if err := rules.CheckIdentity(id); err != nil {
		return store.Key{}, err
	}
	switch {
	case id == nil:
	case id.PersonKey != nil:
		return store.Key{ID: id.GetPersonKey()}, nil
	case id.EmployeeKey != nil:
		return store.Key{ID: id.GetEmployeeKey()}, nil
	case id.UserKey != nil:
		return store.Key{ID: id.GetUserKey()}, nil
	case id.GetPersonNumber() != "":
		return store.Key{Number: id.GetPersonNumber()}, nil
	case id.GetUserName() != "":
		return store.Key{User: strings.ToLower(id.GetUserName())}, nil
	case id.GetAoid() != "":
		return store.Key{External: [2]string{id.GetAoid(), id.GetCoid()}}, nil
	case id.GetBadgeNumber() != "":
		day := today
		if text := id.GetEffectiveDate(); text != "" {
			var err error
			if day, err = civil.ParseDate(text); err != nil {
				return store.Key{}, fault.Invalid(fault.CodeDate, "personIdentity.effectiveDate: "+err.Error())
			}
		}
		return store.Key{Badge: id.GetBadgeNumber(), Day: day.Clamp()}, nil
	}
	return store.Key{}, fault.Invalid(rules.CodeNoIdentity, "personIdentity needs one property that names the person.")
}

// IsIdentified reports whether an identity has a property that names a person, valid or not.
func IsIdentified(id *commonsv1.PersonIdentity) bool {
	return id != nil && (id.PersonKey != nil || id.EmployeeKey != nil || id.UserKey != nil || id.PersonNumber != nil ||
		id.UserName != nil || id.Aoid != nil || id.Coid != nil || id.BadgeNumber != nil)
}

// SplitIdentity returns a separate identity for each property that names a person.
func SplitIdentity(id *commonsv1.PersonIdentity) []*commonsv1.PersonIdentity {
	all := []*commonsv1.PersonIdentity{
		{PersonKey: id.PersonKey},
		{EmployeeKey: id.EmployeeKey},
		{UserKey: id.UserKey},
		{PersonNumber: id.PersonNumber},
		{UserName: id.UserName},
		{BadgeNumber: id.BadgeNumber, EffectiveDate: id.GetEffectiveDate()},
		{Aoid: id.Aoid, Coid: id.Coid},
	}
	return slices.DeleteFunc(all, func(part *commonsv1.PersonIdentity) bool { return !IsIdentified(part) })
}

// parseCriterion returns the persons that a criterion names. A badge names the person who
// carries it on the day.
func parseCriterion(c *commonsv1.PersonCriterion, on civil.Date) ([]store.Key, error) {
	if len(c.GetMultiKey()) > 0 || len(c.GetMultiKeyValues()) > 0 {
		return parsePairs(c)
	}
	keyOf, known := map[string]func(string) store.Key{
		"personnumber":     func(v string) store.Key { return store.Key{Number: names.Clean(v)} },
		"username":         func(v string) store.Key { return store.Key{User: strings.ToLower(names.Clean(v))} },
		"useremailaddress": func(v string) store.Key { return store.Key{Email: strings.ToLower(v)} },
		"badgenumber":      func(v string) store.Key { return store.Key{Badge: names.Clean(v), Day: on} },
		// A person has one assignment, one employee and one user, all with the person's id.
		"personid": keyOfID, "employeeid": keyOfID, "jobassignmentid": keyOfID, "useraccountid": keyOfID,
	}[strings.ToLower(c.GetKey())]
	if !known {
		return nil, fault.Invalid(rules.CodeKey, suggest.NotOneOf("where.employees.key", c.GetKey(), "personid", "personnumber",
			"jobassignmentid", "username", "useraccountid", "badgenumber", "useremailaddress")).WithMembers("where.employees.key")
	}
	if len(c.GetValues()) == 0 {
		return nil, fault.Invalid(rules.CodeValues, "where.employees.values is empty.")
	}
	var keys []store.Key
	for _, value := range c.GetValues() {
		if value == "" {
			return nil, fault.Invalid(rules.CodeValues, "where.employees.values has an empty value.")
		}
		k := keyOf(value)
		if k == (store.Key{}) {
			return nil, fault.Invalid(rules.CodeValues, fmt.Sprintf("where.employees.values: %q is not the id of a person.", value))
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// keyOfID returns the key with an id, or the zero key for a text that is not an id.
func keyOfID(text string) store.Key {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return store.Key{}
	}
	return store.Key{ID: id}
}

// parsePairs returns the persons that pairs of keys name.
func parsePairs(c *commonsv1.PersonCriterion) ([]store.Key, error) {
	if c.GetKey() != "" {
		return nil, fault.Invalid(rules.CodeKeys, "where.employees has both key and multi_key.")
	}
	keyNames := c.GetMultiKey()
	if len(keyNames) != 2 || !strings.EqualFold(keyNames[0], "aoid") || !strings.EqualFold(keyNames[1], "coid") {
		return nil, fault.Invalid(rules.CodeMultiKey, `where.employees.multi_key: only ["aoid", "coid"] is known here.`)
	}
	if len(c.GetMultiKeyValues()) == 0 {
		return nil, fault.Invalid(rules.CodeValues, "where.employees.multi_key_values is empty.")
	}
	var keys []store.Key
	for _, pair := range c.GetMultiKeyValues() {
		values := pair.GetValues()
		if len(values) != 2 || values[0].GetStringValue() == "" || values[1].GetStringValue() == "" {
			return nil, fault.Invalid(rules.CodeValues, "where.employees.multi_key_values needs an aoid and a coid in each element.")
		}
		keys = append(keys, store.Key{External: [2]string{values[0].GetStringValue(), values[1].GetStringValue()}})
	}
	return keys, nil
}
