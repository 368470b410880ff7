package person

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// readIdentity answers the key in an identity, which has exactly one property.
// A person, the employee and the user are the same, so their keys are as well.
func readIdentity(id *commonsv1.PersonIdentity, today civil.Date) (key, error) {
	if err := checkIdentity(id); err != nil {
		return key{}, err
	}
	switch {
	case id == nil:
	case id.PersonKey != nil:
		return key{id: id.GetPersonKey()}, nil
	case id.EmployeeKey != nil:
		return key{id: id.GetEmployeeKey()}, nil
	case id.UserKey != nil:
		return key{id: id.GetUserKey()}, nil
	case id.GetPersonNumber() != "":
		return key{number: id.GetPersonNumber()}, nil
	case id.GetUserName() != "":
		return key{user: strings.ToLower(id.GetUserName())}, nil
	case id.GetAoid() != "":
		return key{external: [2]string{id.GetAoid(), id.GetCoid()}}, nil
	case id.GetBadgeNumber() != "":
		day := today
		if text := id.GetEffectiveDate(); text != "" {
			var err error
			if day, err = civil.ParseDate(text); err != nil {
				return key{}, fault.Invalid(fault.CodeDate, "personIdentity.effectiveDate: "+err.Error())
			}
		}
		return key{badge: id.GetBadgeNumber(), day: day.Clamp()}, nil
	}
	return key{}, fault.Invalid(CodeNoIdentity, "personIdentity needs one property that names the person.")
}

// named reports whether an identity names anybody, be it rightly or wrongly.
func named(id *commonsv1.PersonIdentity) bool {
	return id != nil && (id.PersonKey != nil || id.EmployeeKey != nil || id.UserKey != nil || id.PersonNumber != nil ||
		id.UserName != nil || id.Aoid != nil || id.Coid != nil || id.BadgeNumber != nil)
}

// separate answers an identity for each of the properties that name a person.
func separate(id *commonsv1.PersonIdentity) []*commonsv1.PersonIdentity {
	all := []*commonsv1.PersonIdentity{
		{PersonKey: id.PersonKey}, {EmployeeKey: id.EmployeeKey}, {UserKey: id.UserKey}, {PersonNumber: id.PersonNumber},
		{UserName: id.UserName}, {BadgeNumber: id.BadgeNumber, EffectiveDate: id.GetEffectiveDate()}, {Aoid: id.Aoid, Coid: id.Coid},
	}
	return slices.DeleteFunc(all, func(part *commonsv1.PersonIdentity) bool { return !named(part) })
}

// readCriterion answers the persons that a criterion names. A badge names who
// carries it on the day.
func readCriterion(c *commonsv1.PersonCriterion, on civil.Date) ([]key, error) {
	if len(c.GetMultiKey()) > 0 || len(c.GetMultiKeyValues()) > 0 {
		return readPairs(c)
	}
	keyOf, known := map[string]func(string) key{
		"personnumber":     func(v string) key { return key{number: v} },
		"username":         func(v string) key { return key{user: strings.ToLower(v)} },
		"useremailaddress": func(v string) key { return key{email: strings.ToLower(v)} },
		"badgenumber":      func(v string) key { return key{badge: v, day: on} },
		// A person has one assignment, and is one employee and one user: all
		// of them have the person's id.
		"personid": keyOfID, "employeeid": keyOfID, "jobassignmentid": keyOfID, "useraccountid": keyOfID,
	}[strings.ToLower(c.GetKey())]
	if !known {
		return nil, fault.Invalid(CodeKey, fmt.Sprintf("where.employees.key %q is none of personid, personnumber, "+
			"jobassignmentid, username, useraccountid, badgenumber, useremailaddress.", c.GetKey()))
	}
	if len(c.GetValues()) == 0 {
		return nil, fault.Invalid(CodeValues, "where.employees.values is empty.")
	}
	var keys []key
	for _, value := range c.GetValues() {
		if value == "" {
			return nil, fault.Invalid(CodeValues, "where.employees.values has an empty value.")
		}
		k := keyOf(value)
		if k == (key{}) {
			return nil, fault.Invalid(CodeValues, fmt.Sprintf("where.employees.values: %q is not the id of a person.", value))
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// keyOfID answers the key with an id, and none for a text that is no id.
func keyOfID(text string) key {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return key{}
	}
	return key{id: id}
}

// readPairs answers the persons that pairs of keys name.
func readPairs(c *commonsv1.PersonCriterion) ([]key, error) {
	if c.GetKey() != "" {
		return nil, fault.Invalid(CodeKeys, "where.employees has both key and multi_key.")
	}
	names := c.GetMultiKey()
	if len(names) != 2 || !strings.EqualFold(names[0], "aoid") || !strings.EqualFold(names[1], "coid") {
		return nil, fault.Invalid(CodeMultiKey, `where.employees.multi_key: only ["aoid", "coid"] is known here.`)
	}
	if len(c.GetMultiKeyValues()) == 0 {
		return nil, fault.Invalid(CodeValues, "where.employees.multi_key_values is empty.")
	}
	var keys []key
	for _, pair := range c.GetMultiKeyValues() {
		values := pair.GetValues()
		if len(values) != 2 || values[0].GetStringValue() == "" || values[1].GetStringValue() == "" {
			return nil, fault.Invalid(CodeValues, "where.employees.multi_key_values needs an aoid and a coid in each element.")
		}
		keys = append(keys, key{external: [2]string{values[0].GetStringValue(), values[1].GetStringValue()}})
	}
	return keys, nil
}
