// Package person keeps persons: who is employed, and who may log in.
package person

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Error codes of persons.
const (
	// CodeValues (400): the values of a criterion are missing or no ids.
	CodeValues = "WCO-101202"
	// CodeKey (400): the key of a criterion is not one that is known here.
	CodeKey = "WCO-101203"
	// CodeMissing (400): a property that is required is missing.
	CodeMissing = "WCO-101231"
	// CodeBadValue (400): a property has a value that it may not have.
	CodeBadValue = "WCO-101232"
	// CodeDates (400): effective and expiration dates disagree.
	CodeDates = "WCO-101233"
	// CodeNotUnique (400): somebody else has the value already.
	CodeNotUnique = "WCO-101247"
	// CodeCombination (400): properties that do not go together here.
	CodeCombination = "WCO-101236"
	// CodeTooLong (400): a text is too long.
	CodeTooLong = "WCO-101250"
	// CodeManyIdentities (400): a person is named by several properties.
	CodeManyIdentities = "WCO-101261"
	// CodeNoApprover (400): the approvers do not begin with level 1.
	CodeNoApprover = "WCO-101294"
	// CodeUnknown (400; 404 on a path with an id): there is no such person, or
	// the caller may not see them.
	CodeUnknown = "WCO-101263"
)

const (
	// maxText bounds names and numbers, in characters.
	maxText = 250
	// maxPath bounds the paths of organizations, in characters.
	maxPath = 2000
	// maxList bounds each list of a person.
	maxList = 250
)

// draft is a person that passed the rules and waits to be stored.
type draft struct {
	// person is the message as it is answered: dates settled, full name
	// computed, no password. It has no id yet.
	person *commonsv1.Person
	// zone is the IANA name of the person's time zone.
	zone string
	// account is the user account to create, or nil; its person id is 0.
	account *account
}

// account is what auth needs to let a person log in.
type account struct {
	userName, password, accessProfile string
}

func (d *draft) details() *commonsv1.PersonDetails {
	return d.person.GetPersonInformation().GetPerson()
}

func (d *draft) number() string { return d.details().GetPersonNumber() }

// rules checks persons.
type rules struct {
	zones *civil.Zones
	// defaultZone is the IANA name for persons without a time zone.
	defaultZone string
}

// prepare checks a person that is to be created.
func (r *rules) prepare(in *commonsv1.Person) (*draft, error) {
	if err := checkIdentity(in.GetPersonIdentity()); err != nil {
		return nil, err
	}
	person := proto.CloneOf(in)
	d := &draft{person: person, zone: r.defaultZone}
	if err := checkRequired(person); err != nil {
		return nil, err
	}
	if err := checkTexts(person); err != nil {
		return nil, err
	}
	if err := refuseTerms(person); err != nil {
		return nil, err
	}
	if err := checkParts(person); err != nil {
		return nil, err
	}
	if name := person.GetJobAssignment().GetJobAssignmentDetails().GetTimeZoneName(); name != "" {
		var ok bool
		if d.zone, ok = zoneName(r.zones, name); !ok {
			return nil, fault.Invalid(CodeBadValue, fmt.Sprintf("jobAssignment.jobAssignmentDetails.timeZoneName: %q is not a time zone.", name))
		}
	}
	if err := settle(person); err != nil {
		return nil, err
	}
	details := d.details()
	details.FullName = details.GetLastName() + ", " + details.GetFirstName()
	d.account = takeAccount(person)
	return d, nil
}

// checkIdentity refuses an identity with several properties. When a person is
// created it says nothing else.
func checkIdentity(id *commonsv1.PersonIdentity) error {
	if id == nil {
		return nil
	}
	n := 0
	for _, given := range []bool{
		id.PersonKey != nil, id.PersonNumber != nil, id.EmployeeKey != nil, id.UserKey != nil, id.UserName != nil,
		id.BadgeNumber != nil, id.Aoid != nil || id.Coid != nil,
	} {
		if given {
			n++
		}
	}
	if n > 1 {
		return fault.Invalid(CodeManyIdentities, "personIdentity has more than one property that names a person.")
	}
	return nil
}

// takeAccount answers the user account of a person and wipes from the message
// the passwords, and what only the server can say of an account.
func takeAccount(person *commonsv1.Person) *account {
	given := person.GetUser().GetUserAccount()
	if given == nil {
		return nil
	}
	a := &account{
		userName:      given.GetUserName(),
		password:      given.GetUserPassword(),
		accessProfile: person.GetPersonInformation().GetAccessAssignment().GetAccessProfileName(),
	}
	given.UserPassword, given.AccountLocked, given.MfaRequired, given.ConsecutiveBadLogons = "", nil, nil, nil
	given.LockoutResetDateTime, given.PasswordUpdatedDateTime = "", ""
	person.User.PasswordHistories = nil
	return a
}

// withoutPassword answers the person as it may be shown.
func withoutPassword(in *commonsv1.Person) *commonsv1.Person {
	if in.GetUser().GetUserAccount().GetUserPassword() == "" && len(in.GetUser().GetPasswordHistories()) == 0 {
		return in
	}
	out := proto.CloneOf(in)
	out.User.PasswordHistories = nil
	if out.User.UserAccount != nil {
		out.User.UserAccount.UserPassword = ""
	}
	return out
}

// checkText refuses what a database text or a log line cannot hold.
func checkText(path, text string, longest int) error {
	if utf8.RuneCountInString(text) > longest {
		return fault.Invalid(CodeTooLong, fmt.Sprintf("%s is longer than %d characters.", path, longest))
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return fault.Invalid(CodeBadValue, path+" holds a control character.")
	}
	return nil
}
