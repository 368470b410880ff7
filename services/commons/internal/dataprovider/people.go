package dataprovider

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// Bits for the data that elements of PEOPLE need. Each dated list has a bit. The number of
// the bit is the position of the list in lists.
const (
	needStatus uint64 = 1 << iota
	needAccount
	needLabor
	needWage
	needBadge
	needPayRule
	needAccrual
	needTimeEntry
	needAccess
	needGroups
	needCustomData
	needCustomDate
	needEmail
	needManager
	needBody
	needJob
	needCostCenter
	needSignoff
)

// maxPeopleDays is the limit of PEOPLE. It equals the limit of information access, which
// applies to the difference of the two dates.
var maxPeopleDays = int64(policy.Max[*platformv1.DataFrom]("employees") * (policy.Max[*platformv1.DataFrom]("days") + 1))

// person is a person with the data that was loaded for them.
type person struct {
	id                                 int64
	number, fullName                   string
	texts                              [personTexts]string
	hireDate, birthDate, seniorityDate *civil.Date
	managerName                        *string
	body                               *commonsv1.Person
	status, account, labor             []dated
	wage, badge, payRule, accrual      []dated
	timeEntry, access, groups          []dated
	customData, customDate             []dated
	email, job, costCenter             []dated
	signedOff                          []dated
}

// Indexes of the texts of a person's row, in the order of personColumns.
const (
	textFirstName = iota
	textLastName
	textMiddleInitial
	textShortName
	textTimeZone
	textWorkerType
	textSupervisor
	textScheduleGroup
	textDeviceGroup
	textUserName
	textLogonProfile
	textAccessProfile
	textPreferenceProfile
	textNotificationProfile
	textLocalePolicy
	textDelegateProfile
	textAOID
	textCOID
	personTexts
)

// dated is an element of a person's list, with its values and its days. An element without
// dates applies on all days.
type dated struct {
	days   civil.Range
	texts  [5]string
	amount float64
}

// on returns the element that applies on a day, or nil.
func on(list []dated, day civil.Date) *dated {
	i := slices.IndexFunc(list, func(d dated) bool { return d.days.Contains(day) })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// findNamed returns the element whose first text is the name.
func findNamed(list []dated, name string) *dated {
	i := slices.IndexFunc(list, func(d dated) bool { return d.texts[0] == name })
	if i < 0 {
		return nil
	}
	return &list[i]
}

func newPeople(pool *pg.Pool) *dataelement.Table[person] {
	return &dataelement.Table[person]{
		Name: "PEOPLE", Permission: "commons.person.read", Kind: datav1.RowKind_ROW_KIND_EMPLOYEE,
		MaxRowDays: maxPeopleDays, Load: personLoader{pool}.load,
		Entries: slices.Concat(commonElements(), identityElements(), employmentElements(), accessElements(), hoursElements(), contactElements()),
	}
}

type (
	entry = dataelement.Entry[person]
	at    = dataelement.At
	value = dataelement.Value
)

// employee is the category of the elements of persons. Programs know only the categories of the reference product.
var employee = []string{"EMPLOYEE"}

// column returns an element that shows a text of the person's row.
func column(key, label, doc string, text int) entry {
	return entry{
		Key: key, Label: label, Doc: doc, Type: dataelement.String, Categories: employee,
		Value: func(p *person, _ at) value { return dataelement.Text(p.texts[text]) },
	}
}

// textOn returns an element that shows a text of the list entry that applies on the last day.
func textOn(key, label, doc string, need uint64, list func(*person) []dated, text int) entry {
	return entry{
		Key: key, Label: label, Doc: doc, Type: dataelement.String, Categories: employee, Series: true, Needs: need,
		Value: func(p *person, at at) value {
			if d := on(list(p), at.Last()); d != nil {
				return dataelement.Text(d.texts[text])
			}
			return value{}
		},
	}
}

// sinceOn and untilOn return elements that show the first and the last day of the list entry
// that applies on the last day.
func sinceOn(key, label, doc string, need uint64, list func(*person) []dated) entry {
	return dayOn(key, label, doc, need, list, func(d *dated) civil.Date { return d.days.From })
}

// ofWages restricts an entry to callers who may read wages.
func ofWages(e entry) entry {
	e.Wage = true
	return e
}

func untilOn(key, label, doc string, need uint64, list func(*person) []dated) entry {
	return dayOn(key, label, doc, need, list, func(d *dated) civil.Date { return lastDay(d.days) })
}

func dayOn(key, label, doc string, need uint64, list func(*person) []dated, day func(*dated) civil.Date) entry {
	return entry{
		Key: key, Label: label, Doc: doc, Type: dataelement.Date, Categories: employee, Series: true, Needs: need,
		Value: func(p *person, at at) value {
			if d := on(list(p), at.Last()); d != nil {
				return dataelement.Day(day(d))
			}
			return value{}
		},
	}
}

// lastDay returns the last day of a range, or civil.Forever for a range without an end.
func lastDay(days civil.Range) civil.Date {
	if days.To >= civil.Forever {
		return civil.Forever
	}
	return days.To - 1
}

func dayValue(day *civil.Date) value {
	if day == nil {
		return value{}
	}
	return dataelement.Day(*day)
}
