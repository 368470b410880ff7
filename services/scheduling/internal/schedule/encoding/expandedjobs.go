package encoding

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/pkg/protofield"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// JobRefs are the jobs that entries name: by their paths, and by ids those that have none.
// Both ascend.
type JobRefs struct {
	Paths []string
	IDs   []int64
}

// allJobPaths lead to the refs of jobs in entries, in all of their segments.
var allJobPaths = [Kinds][]protowire.Number{
	KindShift: jobPaths[KindShift], KindPayCodeEdit: jobPaths[KindPayCodeEdit],
	KindTag: {
		protofield.MustNumber(&schedulingv1.ScheduleTag{}, "segments"), protofield.MustNumber(&schedulingv1.ScheduleTagSegment{}, "org_job_ref"),
	},
}

// Jobs returns the jobs that the entries name, open shifts among them.
func (w *Window) Jobs() (JobRefs, error) {
	var memory buffers
	seen := map[onJob]bool{}
	paths, ids := map[string]bool{}, map[int64]bool{}
	note := func(ref []byte) {
		if path := firstValue(ref, refQualifier); len(path) > 0 {
			paths[string(path)] = true
		} else if id := firstVarint(ref, refID); id != 0 {
			ids[int64(id)] = true
		}
	}
	for _, list := range append(w.Entries[:], w.Open) {
		for i := range list {
			e := &list[i]
			key := onJob{e.Template, e.Job}
			if seen[key] || allJobPaths[e.Template.Kind] == nil {
				continue
			}
			seen[key] = true
			t, err := e.templateWithJob(&memory)
			if err != nil {
				return JobRefs{}, err
			}
			for s := range t.sections {
				eachValue(t.sections[s].text, allJobPaths[t.Kind], note)
			}
		}
	}
	return JobRefs{Paths: slices.Sorted(maps.Keys(paths)), IDs: slices.Sorted(maps.Keys(ids))}, nil
}

// eachValue calls found for every value at the end of a path of message fields.
func eachValue(message []byte, path []protowire.Number, found func([]byte)) {
	if len(path) == 0 {
		found(message)
		return
	}
	for len(message) > 0 {
		number, wire, n := protowire.ConsumeTag(message)
		if n < 0 {
			return
		}
		size := protowire.ConsumeFieldValue(number, wire, message[n:])
		if size < 0 {
			return
		}
		if number == path[0] && wire == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message[n:])
			eachValue(value, path[1:], found)
		}
		message = message[n+size:]
	}
}

// firstVarint returns the first value of a field with a number, 0 when there is none.
func firstVarint(message []byte, wanted protowire.Number) uint64 {
	for len(message) > 0 {
		number, wire, n := protowire.ConsumeTag(message)
		if n < 0 {
			return 0
		}
		size := protowire.ConsumeFieldValue(number, wire, message[n:])
		if size < 0 {
			return 0
		}
		if number == wanted && wire == protowire.VarintType {
			value, _ := protowire.ConsumeVarint(message[n:])
			return value
		}
		message = message[n+size:]
	}
	return 0
}
