package encoding

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
	requestIndex int32  // position among those that were asked for
	Ref          []byte // the ref as a message, with its length before it
	Zone         *ZoneDays
	jobs         []jobDays // ascending
}

// NewPersons returns the employees as persons, each once, by ascending id.
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
		zone, known := zones[e.Zone]
		if !known {
			zone = ClockChanges(e.Zone, days)
			zones[e.Zone] = zone
		}
		at := len(refs)
		refs = appendRef(refs, e)
		persons[i] = Person{ID: e.ID, requestIndex: int32(i), Ref: refs[at:len(refs):len(refs)], Zone: zone, jobs: jobsOf(e, jobs)}
	}
	slices.SortFunc(persons, func(a, b Person) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.requestIndex, b.requestIndex))
	})
	return slices.CompactFunc(persons, func(a, b Person) bool { return a.ID == b.ID })
}

// requestOrder returns the indexes of persons in the order in which they were asked
// for.
func requestOrder(persons []Person) []int32 {
	order := make([]int32, len(persons))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(persons[a].requestIndex, persons[b].requestIndex) })
	return order
}

// IDsOf returns the ids of persons, in their order.
func IDsOf(persons []Person) []int64 {
	ids := make([]int64, len(persons))
	for i := range persons {
		ids[i] = persons[i].ID
	}
	return ids
}

// appendRef appends the ref of an employee, id and person number, with its
// length before it.
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
