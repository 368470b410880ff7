package window

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// Person is an employee whose schedule is written.
type Person struct {
	ID           int64
	RequestIndex int32  // position in the request
	Ref          []byte // the reference as a length-prefixed message
	Zone         *ZoneDays
	jobs         []jobDays // ascending
}

// NewPersons converts employees to persons, in order of their ids and without duplicates.
func NewPersons(employees []projection.Employee, days civil.Range) []Person {
	persons := make([]Person, len(employees))
	zones, jobs := map[*civil.Zone]*ZoneDays{}, map[string]*Job{}
	size := 0
	for i := range employees {
		size += refSize(&employees[i])
	}
	refs := make([]byte, 0, size)
	for i := range employees {
		e := &employees[i]
		zone, found := zones[e.Zone]
		if !found {
			zone = ClockChanges(e.Zone, days)
			zones[e.Zone] = zone
		}
		at := len(refs)
		refs = appendRef(refs, e)
		persons[i] = Person{ID: e.ID, RequestIndex: int32(i), Ref: refs[at:len(refs):len(refs)], Zone: zone, jobs: primaryJobs(e, jobs)}
	}
	slices.SortFunc(persons, func(a, b Person) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.RequestIndex, b.RequestIndex))
	})
	return slices.CompactFunc(persons, func(a, b Person) bool { return a.ID == b.ID })
}

// PersonIDs returns the ids of persons, in their order.
func PersonIDs(persons []Person) []int64 {
	ids := make([]int64, len(persons))
	for i := range persons {
		ids[i] = persons[i].ID
	}
	return ids
}

// appendRef appends the length-prefixed reference of an employee, with id and person number.
func appendRef(dst []byte, e *projection.Employee) []byte {
	dst = protowire.AppendVarint(dst, uint64(refBody(e)))
	dst = protowire.AppendTag(dst, refID, protowire.VarintType)
	dst = protowire.AppendVarint(dst, uint64(e.ID))
	dst = protowire.AppendTag(dst, refQualifier, protowire.BytesType)
	return protowire.AppendString(dst, e.PersonNumber)
}

func refBody(e *projection.Employee) int {
	return 2 + protowire.SizeVarint(uint64(e.ID)) + protowire.SizeBytes(len(e.PersonNumber))
}

func refSize(e *projection.Employee) int { return protowire.SizeBytes(refBody(e)) }
