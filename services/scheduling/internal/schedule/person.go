package schedule

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// person is an employee whose schedule is read.
type person struct {
	id    int64
	asked int32  // position among those that were asked for
	ref   []byte // the ref as a message, with its length before it
	zone  *zoneDays
}

// newPersons returns the employees as persons, each once, by ascending id.
func newPersons(employees []projection.Employee, days civil.Range) []person {
	persons := make([]person, len(employees))
	zones := map[*civil.Zone]*zoneDays{}
	size := 0
	for i := range employees {
		size += refSize(&employees[i])
	}
	refs := make([]byte, 0, size)
	for i := range employees {
		e := &employees[i]
		zone, known := zones[e.Zone]
		if !known {
			zone = changesOf(e.Zone, days)
			zones[e.Zone] = zone
		}
		at := len(refs)
		refs = appendRef(refs, e)
		persons[i] = person{id: e.ID, asked: int32(i), ref: refs[at:len(refs):len(refs)], zone: zone}
	}
	slices.SortFunc(persons, func(a, b person) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.asked, b.asked))
	})
	return slices.CompactFunc(persons, func(a, b person) bool { return a.id == b.id })
}

// asAsked returns the indexes of persons in the order in which they were asked
// for.
func asAsked(persons []person) []int32 {
	order := make([]int32, len(persons))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(persons[a].asked, persons[b].asked) })
	return order
}

func idsOf(persons []person) []int64 {
	ids := make([]int64, len(persons))
	for i := range persons {
		ids[i] = persons[i].id
	}
	return ids
}

// appendRef appends the ref of an employee, id and person number, with its
// length before it.
func appendRef(dst []byte, e *projection.Employee) []byte {
	dst = protowire.AppendVarint(dst, uint64(refBody(e)))
	dst = protowire.AppendTag(dst, 1, protowire.VarintType)
	dst = protowire.AppendVarint(dst, uint64(e.ID))
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	return protowire.AppendString(dst, e.PersonNumber)
}

func refBody(e *projection.Employee) int {
	return 2 + protowire.SizeVarint(uint64(e.ID)) + protowire.SizeBytes(len(e.PersonNumber))
}

func refSize(e *projection.Employee) int { return protowire.SizeBytes(refBody(e)) }
