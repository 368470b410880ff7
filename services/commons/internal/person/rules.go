// Package person keeps persons: who is employed, and who may log in.
package person

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

const (
	// maxText bounds names and numbers, in characters.
	maxText = 250
	// maxPath bounds the paths of organizations, in characters. An index holds
	// them, and its entries have less than 2,700 bytes.
	maxPath = 650
	// maxCategory bounds labor categories, in characters.
	maxCategory = 2000
	// maxList bounds each list of a person.
	maxList = 250
)

// draft is a person that passed the rules and waits to be stored.
type draft struct {
	// record is the person as they will be: dates settled, full name computed,
	// no password. A new person has no id yet.
	*record
	// zone is the IANA name of the person's time zone.
	zone string
	// account is the user account to create or to change, or nil; its person id
	// is 0.
	account *account
	// asked is what the caller asks for about employment terms.
	asked []askedTerm
}

// account is what auth needs to let a person log in.
type account struct {
	userName, password, accessProfile string
	// known says that auth has the account already.
	known bool
}

// rules checks persons.
type rules struct {
	zones *civil.Zones
	// defaultZone is the IANA name for persons without a time zone.
	defaultZone string
}

func newRules(zones *civil.Zones, defaultZone string) *rules {
	return &rules{zones: zones, defaultZone: defaultZone}
}

// prepare checks a person that is to be created.
func (r *rules) prepare(in *commonsv1.Person) (*draft, error) {
	if err := checkIdentity(in.GetPersonIdentity()); err != nil {
		return nil, err
	}
	d := &draft{record: &record{person: proto.CloneOf(in)}}
	d.aoid, d.coid = in.GetPersonIdentity().GetAoid(), in.GetPersonIdentity().GetCoid()
	if err := checkRequired(d.person); err != nil {
		return nil, err
	}
	if err := checkSent(d.record); err != nil {
		return nil, err
	}
	if err := checkWages(d.person); err != nil {
		return nil, err
	}
	first := civil.Beginning
	if hired, err := civil.ParseDate(d.details().GetHireDate()); err == nil {
		first = hired.Clamp()
	}
	if err := settle(d.record, first); err != nil {
		return nil, err
	}
	asked, err := takeTerms(d.person, first)
	if err != nil {
		return nil, err
	}
	// Who is new has no term to be taken off.
	d.asked = slices.DeleteFunc(asked, func(a askedTerm) bool { return a.name == "" })
	for _, l := range lists() {
		l.put(d.record, l.kept(join(l.entries(d.record))))
	}
	d.beginActive()
	if err := checkLicense(d.record); err != nil {
		return nil, err
	}
	d.account = takeAccount(d.person)
	return d, r.complete(d)
}

// checkSent checks what a caller sent of a person, new or not.
func checkSent(r *record) error {
	if err := checkTexts(r); err != nil {
		return err
	}
	if err := refusePositionTerms(r.person); err != nil {
		return err
	}
	return checkParts(r.person)
}

// complete checks a person as a whole and computes what follows from the rest.
func (r *rules) complete(d *draft) error {
	if err := checkLengths(d.record); err != nil {
		return err
	}
	d.zone = r.defaultZone
	if name := jobDetailsOf(d.record).GetTimeZoneName(); name != "" {
		var ok bool
		if d.zone, ok = zoneName(r.zones, name); !ok {
			return fault.Invalid(CodeBadValue, fmt.Sprintf("jobAssignment.jobAssignmentDetails.timeZoneName: %q is not a time zone.", name))
		}
	}
	details := d.details()
	details.FullName = details.GetLastName() + ", " + details.GetFirstName()
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
	given.UserPassword, given.MfaRequired, given.ConsecutiveBadLogons = "", nil, nil
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
