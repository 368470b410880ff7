// Package rules checks what callers send of persons and fills in what they left out.
// It reads no database.
package rules

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
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
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

// Draft is a person that passed the rules and waits to be stored.
type Draft struct {
	// record is the person as they will be: dates settled, full name computed,
	// no password. A new person has no id yet.
	*record.Record
	// Zone is the IANA name of the person's time zone, and zoneFrom the first day of it that the
	// caller asks for, "" for none.
	Zone, zoneFrom string
	// Zones are the time zones of a person who had more than one, the last of which is Zone.
	Zones *commonsv1.PersonZones
	// Account is the user account to create or to change, or nil; its person id
	// is 0.
	Account *UserAccount
	// TermRequests is what the caller asks for about employment terms.
	TermRequests []record.TermRequest
}

// UserAccount is what auth needs to let a person log in.
type UserAccount struct {
	UserName, Password, AccessProfile string
	// Known says that auth has the account already.
	Known bool
}

// Rules checks persons.
type Rules struct {
	zones *civil.Zones
	// defaultZone is the IANA name for persons without a time zone.
	defaultZone string
}

// New returns Rules that know time zones; persons without one are in defaultZone.
func New(zones *civil.Zones, defaultZone string) *Rules {
	return &Rules{zones: zones, defaultZone: defaultZone}
}

// NewPerson checks a person that is to be created.
func (r *Rules) NewPerson(in *commonsv1.Person) (*Draft, error) {
	if err := CheckIdentity(in.GetPersonIdentity()); err != nil {
		return nil, err
	}
	d := &Draft{Record: &record.Record{Message: proto.CloneOf(in)}}
	d.Message.PersonIdentity = externalIdentity(in.GetPersonIdentity())
	if err := checkRequired(d.Message); err != nil {
		return nil, err
	}
	if err := checkSent(d.Record); err != nil {
		return nil, err
	}
	if err := checkWages(d.Message); err != nil {
		return nil, err
	}
	first := civil.Beginning
	if hired, err := civil.ParseDate(d.Details().GetHireDate()); err == nil {
		first = hired.Clamp()
	}
	if err := normalise(d.Record, first); err != nil {
		return nil, err
	}
	asked, err := TakeTermRequests(d.Message, first)
	if err != nil {
		return nil, err
	}
	// Who is new has no term to be taken off.
	d.TermRequests = slices.DeleteFunc(asked, func(a record.TermRequest) bool { return a.Name == "" })
	for _, l := range record.Lists() {
		l.Set(d.Record, l.DropEmpty(record.MergeAdjacent(l.DatedElements(d.Record))))
	}
	d.DefaultStatus()
	if err := checkLicense(d.Record); err != nil {
		return nil, err
	}
	d.Account = takeUserAccount(d.Message)
	return d, r.complete(d)
}

// checkSent checks what a caller sent of a person, new or not.
func checkSent(r *record.Record) error {
	if err := checkTexts(r); err != nil {
		return err
	}
	if err := checkPositionTerms(r.Message); err != nil {
		return err
	}
	return checkParts(r.Message)
}

// complete checks a person as a whole and computes what follows from the rest.
func (r *Rules) complete(d *Draft) error {
	if err := checkLengths(d.Record); err != nil {
		return err
	}
	unassign(d.Message.GetPersonInformation().GetAccessAssignment())
	d.Zone, d.zoneFrom = r.defaultZone, ""
	if job := d.Message.GetJobAssignment().GetJobAssignmentDetails(); job != nil {
		d.zoneFrom, job.TimeZoneEffectiveDate = job.GetTimeZoneEffectiveDate(), ""
	}
	if name := record.JobDetailsOrEmpty(d.Record).GetTimeZoneName(); name != "" {
		var ok bool
		if d.Zone, ok = zoneName(r.zones, name); !ok {
			return fault.Invalid(CodeBadValue, fmt.Sprintf("jobAssignment.jobAssignmentDetails.timeZoneName: %q is not a time zone.", name))
		}
	}
	details := d.Details()
	details.FullName = details.GetLastName() + ", " + details.GetFirstName()
	return nil
}

// takeUserAccount returns the user account of a person and wipes from the message
// the passwords, and what only the server can say of an account.
func takeUserAccount(person *commonsv1.Person) *UserAccount {
	given := person.GetUser().GetUserAccount()
	if given == nil {
		return nil
	}
	a := &UserAccount{
		UserName:      given.GetUserName(),
		Password:      given.GetUserPassword(),
		AccessProfile: person.GetPersonInformation().GetAccessAssignment().GetAccessProfileName(),
	}
	given.UserPassword, given.MfaRequired, given.ConsecutiveBadLogons = "", nil, nil
	given.LockoutResetDateTime, given.PasswordUpdatedDateTime = "", ""
	person.User.PasswordHistories = nil
	return a
}

// WithoutPassword returns the person as it may be shown.
func WithoutPassword(in *commonsv1.Person) *commonsv1.Person {
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
func checkText(path, text string, limit int) error {
	if utf8.RuneCountInString(text) > limit {
		return fault.Invalid(CodeTooLong, fmt.Sprintf("%s is longer than %d characters.", path, limit))
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return fault.Invalid(CodeBadValue, path+" holds a control character.")
	}
	return nil
}
