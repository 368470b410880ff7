// Package rules checks sent persons and fills in missing values. It does not read the
// database.
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
	// maxText limits names and numbers, in characters.
	maxText = 250
	// maxPath limits the paths of organizations, in characters. An index contains them, and its
	// entries must be shorter than 2,700 bytes.
	maxPath = 650
	// maxCategory limits labor categories, in characters.
	maxCategory = 2000
	// maxList limits the length of each list of a person.
	maxList = 250
)

// Draft is a checked person before it is stored.
type Draft struct {
	// Record is the person to be stored, with normalized dates, the full name, and no password.
	// A new person has no id yet.
	*record.Record
	// Zone is the IANA name of the person's time zone. zoneFrom is its first day in the request,
	// or "".
	Zone, zoneFrom string
	// Zones are the dated time zones of a person who has had several. The last of them is Zone.
	Zones *commonsv1.PersonZones
	// Account is the user account to create or to change, or nil. Its person id is 0.
	Account *UserAccount
	// TermRequests are the requests for employment terms.
	TermRequests []record.TermRequest
}

// UserAccount holds the data that auth needs for a person to log in.
type UserAccount struct {
	UserName, Password, AccessProfile string
	// Known reports that the account already exists in auth.
	Known bool
}

// Rules checks persons.
type Rules struct {
	zones *civil.Zones
	// defaultZone is the IANA name for persons without a time zone.
	defaultZone string
}

// New returns Rules with the given time zones and the default for persons without one.
func New(zones *civil.Zones, defaultZone string) *Rules {
	return &Rules{zones: zones, defaultZone: defaultZone}
}

// NewPerson checks a new person.
func (r *Rules) NewPerson(in *commonsv1.Person) (*Draft, error) {
	if err := CheckIdentity(in.GetPersonIdentity()); err != nil {
		return nil, err
	}
	d := &Draft{Record: &record.Record{Message: proto.CloneOf(in)}}
	d.Message.PersonIdentity = externalIdentity(in.GetPersonIdentity())
	if err := fault.Join(checkRequired(d.Message), checkSent(d.Record), checkWages(d.Message)); err != nil {
		return nil, err
	}
	first := civil.Beginning
	if hired, err := civil.ParseDate(d.Details().GetHireDate()); err == nil {
		first = hired.Clamp()
	}
	if err := normalise(d.Record, first); err != nil {
		return nil, err
	}
	d.ExpandFullTime(&record.Record{}, first)
	asked, err := TakeTermRequests(d.Message, first)
	if err != nil {
		return nil, err
	}
	// A new person has no term to remove.
	d.TermRequests = slices.DeleteFunc(asked, func(a record.TermRequest) bool { return a.Name == "" })
	for _, l := range record.Lists() {
		l.Set(d.Record, l.DropEmpty(record.MergeAdjacent(l.DatedElements(d.Record))))
	}
	d.DefaultStatus()
	if err := checkLicense(d.Record); err != nil {
		return nil, err
	}
	if err := refuseUselessBadges(d.Record, d.Message.GetPersonInformation().GetBadgeAssignments()); err != nil {
		return nil, err
	}
	d.Account = takeUserAccount(d.Message)
	return d, r.complete(d)
}

// checkSent checks the data in the request, for new and existing persons.
func checkSent(r *record.Record) error {
	return fault.Join(checkTexts(r), checkPositionTerms(r.Message), checkParts(r.Message))
}

// complete checks a person as a whole and computes the derived properties.
func (r *Rules) complete(d *Draft) error {
	if err := checkLengths(d.Record); err != nil {
		return err
	}
	unassign(d.Message.GetPersonInformation().GetAccessAssignment())
	d.EndBadges()
	d.Zone, d.zoneFrom = r.defaultZone, ""
	if job := d.Message.GetJobAssignment().GetJobAssignmentDetails(); job != nil {
		d.zoneFrom, job.TimeZoneEffectiveDate = job.GetTimeZoneEffectiveDate(), ""
	}
	if name := record.JobDetailsOrEmpty(d.Record).GetTimeZoneName(); name != "" {
		var ok bool
		if d.Zone, ok = FindZone(name); !ok {
			return fault.Invalid(CodeBadValue, fmt.Sprintf("jobAssignment.jobAssignmentDetails.timeZoneName: %q is not a time zone.", name))
		}
	}
	details := d.Details()
	details.FullName = details.GetLastName() + ", " + details.GetFirstName()
	return nil
}

// takeUserAccount returns the user account of a person. It clears the passwords in the
// message, and the account properties that only the server sets.
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

// WithoutPassword returns the person without passwords.
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

// checkText refuses characters that a database text or a log line cannot contain, and texts
// that are too long.
func checkText(path, text string, limit int) error {
	if utf8.RuneCountInString(text) > limit {
		return fault.Invalid(CodeTooLong, fmt.Sprintf("%s is longer than %d characters.", path, limit)).WithMembers(path)
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return fault.Invalid(CodeBadValue, path+" holds a control character.").WithMembers(path)
	}
	return nil
}
