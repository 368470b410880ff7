package lines_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/rotaloom/rotaloom/gateway/lines"
	"github.com/rotaloom/rotaloom/gateway/transcode"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// write returns the lines of a response in parts. It overwrites the memory of each part after adding it.
func write(desc protoreflect.MessageDescriptor, parts ...[]byte) (string, error) {
	var out bytes.Buffer
	w := lines.For(desc).NewWriter(nil, &out)
	defer w.Close()
	for _, part := range parts {
		part = bytes.Clone(part)
		if err := w.Add(part); err != nil {
			return "", err
		}
		for i := range part {
			part[i] = 0xff
		}
	}
	last, err := w.End()
	return out.String() + string(last), err
}

// putTogether returns the JSON value that the lines of a response make: the items of an array, or one object.
func putTogether(t *testing.T, text string, array bool) any {
	t.Helper()
	items, object := []any{}, map[string]any{}
	for line := range strings.Lines(text) {
		require.True(t, strings.HasSuffix(line, "\n"), "%q", line)
		value := decode(t, []byte(line))
		items = append(items, value)
		if !array {
			merge(object, value.(map[string]any))
		}
	}
	if array {
		return items
	}
	return object
}

func merge(into, from map[string]any) {
	for name, value := range from {
		switch known := into[name].(type) {
		case []any:
			into[name] = append(known, value.([]any)...)
		case map[string]any:
			merge(known, value.(map[string]any))
		default:
			into[name] = value
		}
	}
}

func decode(t *testing.T, text []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	require.NoError(t, decoder.Decode(&value), "%s", text)
	return value
}

// requireSameAsJSON compares the lines of a response in parts with its JSON.
func requireSameAsJSON(t *testing.T, desc protoreflect.MessageDescriptor, whole []byte, parts ...[]byte) {
	t.Helper()
	text, err := transcode.For(desc).AppendJSON(nil, whole)
	require.NoError(t, err)
	got, err := write(desc, parts...)
	require.NoError(t, err)
	require.Equal(t, decode(t, text), putTogether(t, got, text[0] == '['), "%s", got)
}

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	wire, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	require.NoError(t, err)
	return wire
}

func descriptor(m proto.Message) protoreflect.MessageDescriptor { return m.ProtoReflect().Descriptor() }

func shift(id int64) *schedulingv1.Shift { return &schedulingv1.Shift{Id: proto.Int64(id), Label: "D"} }

// failure is the outcome of a read with one unknown item.
func failure(t testing.TB) *commonv1.ErrorBody {
	t.Helper()
	success, err := anypb.New(&timekeepingv1.Timecard{StartDate: "2027-03-01"})
	require.NoError(t, err)
	return &commonv1.ErrorBody{ErrorCode: "WCO-1", Message: "Partial success", Details: &commonv1.ErrorDetails{
		ErrorOffsets: []int32{1},
		Results:      []*commonv1.BulkResult{{Success: success}, {Error: &commonv1.ErrorBody{ErrorCode: "WCO-2", Message: "Unknown."}}},
	}}
}

func TestLinesOfResponses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		response proto.Message
		want     []string
	}{
		"the items of an array": {
			&commonsv1.PersonRecordList{Records: []*commonsv1.PersonRecord{{PersonId: 1}, {}}}, []string{`{"personId":1}`, `{}`},
		},
		"an empty array": {&commonsv1.PersonList{}, nil},
		"the entries of a schedule, and its empty lists": {
			&schedulingv1.Schedule{
				Shifts: &schedulingv1.ShiftList{Shifts: []*schedulingv1.Shift{shift(1), shift(2)}}, OpenShifts: &schedulingv1.ShiftList{},
				OpenShiftsSummary: &schedulingv1.OpenShiftsSummary{TotalCount: proto.Int32(3), CountsByDate: []*schedulingv1.OpenShiftCount{{Date: "2027-03-01", OpenShiftCount: 3}}},
				DayLocks:          &schedulingv1.DayLockList{Locks: []*schedulingv1.DayLock{{Id: proto.Int64(4)}}},
			},
			[]string{
				`{"shifts":[{"id":1,"label":"D"}]}`, `{"shifts":[{"id":2,"label":"D"}]}`,
				`{"openShiftsSummary":{"countsByDate":[{"date":"2027-03-01","openShiftCount":3}]}}`,
				`{"dayLocks":[{"id":4}]}`,
				`{"openShifts":[],"openShiftsSummary":{"totalCount":3}}`,
			},
		},
		"a schedule without lists": {&schedulingv1.Schedule{}, nil},
		"the times of changes come last": {
			&schedulingv1.ScheduleChanges{
				StartDateTime: "2027-03-01T00:00:00", EndDateTime: "2027-03-02T00:00:00",
				ScheduleChangeSnapshots: &schedulingv1.ScheduleChangeSnapshotList{Snapshots: []*schedulingv1.ScheduleChangeSnapshot{
					{Employee: &commonv1.Ref{Id: proto.Int64(5)}, Shifts: &schedulingv1.ChangedShifts{Create: []*schedulingv1.ChangedShift{{After: shift(1)}}}},
				}},
			},
			[]string{
				`{"scheduleChangeSnapshots":[{"employee":{"id":5},"shifts":{"create":[{"after":{"id":1,"label":"D"}}]}}]}`,
				`{"startDateTime":"2027-03-01T00:00:00","endDateTime":"2027-03-02T00:00:00"}`,
			},
		},
		"the next page comes last": {
			&commonsv1.PersonPage{TotalElements: proto.String("1"), Records: &commonsv1.PersonRecordList{Records: []*commonsv1.PersonRecord{{PersonId: 7}}}, Next: "abc"},
			[]string{`{"records":[{"personId":7}]}`, `{"totalElements":"1","next":"abc"}`},
		},
		"plain values stay together": {
			&commonv1.RefList{Ids: []int64{1, 2}, Refs: []*commonv1.Ref{{Id: proto.Int64(3)}}}, []string{`{"refs":[{"id":3}]}`, `{"ids":[1,2]}`},
		},
		"a failure replaces the items": {
			&timekeepingv1.TimecardList{Timecards: []*timekeepingv1.Timecard{{}}, Failure: failure(t)},
			[]string{
				`{"details":{"results":[{"success":{"startDate":"2027-03-01"}}]}}`,
				`{"details":{"results":[{"error":{"errorCode":"WCO-2","message":"Unknown."}}]}}`,
				`{"errorCode":"WCO-1","message":"Partial success","details":{"error-offsets":[1]}}`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wire := marshal(t, c.response)
			got, err := write(descriptor(c.response), wire)
			require.NoError(t, err)
			want := strings.Join(c.want, "\n")
			if want != "" {
				want += "\n"
			}
			assert.Equal(t, want, got)
			requireSameAsJSON(t, descriptor(c.response), wire, wire)
		})
	}
}

// A list may continue in a later part, and be empty in an earlier one.
func TestLinesOfParts(t *testing.T) {
	t.Parallel()
	whole := &schedulingv1.Schedule{}
	var wires [][]byte
	for _, part := range []*schedulingv1.Schedule{
		{Shifts: &schedulingv1.ShiftList{}, OpenShiftsSummary: &schedulingv1.OpenShiftsSummary{TotalCount: proto.Int32(1)}},
		{Shifts: &schedulingv1.ShiftList{Shifts: []*schedulingv1.Shift{shift(1)}}, DayLocks: &schedulingv1.DayLockList{}},
		{OpenShiftsSummary: &schedulingv1.OpenShiftsSummary{CountsByDate: []*schedulingv1.OpenShiftCount{{OpenShiftCount: 1}}}},
		{},
	} {
		proto.Merge(whole, part)
		wires = append(wires, marshal(t, part))
	}
	requireSameAsJSON(t, descriptor(whole), marshal(t, whole), wires...)
}

func TestHas(t *testing.T) {
	t.Parallel()
	for _, m := range []proto.Message{&commonsv1.PersonList{}, &schedulingv1.Schedule{}, &schedulingv1.ScheduleChanges{}, &commonv1.RefList{}} {
		assert.True(t, lines.Has(descriptor(m)), "%T", m)
	}
	// The numbers of empty lists would name lists whose items are in lines.
	for _, m := range []proto.Message{&commonv1.DateRange{}, &timekeepingv1.Timecard{}} {
		assert.False(t, lines.Has(descriptor(m)), "%T", m)
	}
}

func TestMalformedResponses(t *testing.T) {
	t.Parallel()
	list := &schedulingv1.ShiftList{Shifts: []*schedulingv1.Shift{shift(1)}}
	wire := marshal(t, list)
	for end := 1; end < len(wire); end++ {
		_, err := write(descriptor(list), wire[:end])
		require.Error(t, err, "%d bytes", end)
	}
	cards := &timekeepingv1.TimecardList{Timecards: []*timekeepingv1.Timecard{{StartDate: "2027-03-01"}}}
	_, err := write(descriptor(cards), marshal(t, cards), marshal(t, &timekeepingv1.TimecardList{Failure: failure(t)}))
	require.ErrorContains(t, err, "a failure after items")
	// An item of an unknown type.
	unknown := &timekeepingv1.TimecardList{Failure: &commonv1.ErrorBody{Details: &commonv1.ErrorDetails{
		Results: []*commonv1.BulkResult{{Success: &anypb.Any{TypeUrl: "type.googleapis.com/no.such.Type"}}},
	}}}
	_, err = write(descriptor(unknown), marshal(t, unknown))
	require.ErrorContains(t, err, "no.such.Type")
}

// largest records the largest write.
type largest struct{ bytes, total int }

func (l *largest) Write(p []byte) (int, error) {
	l.bytes, l.total = max(l.bytes, len(p)), l.total+len(p)
	return len(p), nil
}

// The memory of a response does not grow with the number of its items.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	const lineSize = 1 << 10
	var out largest
	w := lines.For(descriptor(&schedulingv1.Schedule{})).NewWriter(nil, &out)
	defer w.Close()
	label := strings.Repeat("x", lineSize)
	for i := range int64(40) {
		part := &schedulingv1.Schedule{Shifts: &schedulingv1.ShiftList{}}
		for j := range int64(500) {
			part.Shifts.Shifts = append(part.Shifts.Shifts, &schedulingv1.Shift{Id: proto.Int64(1000*i + j), Label: label})
		}
		require.NoError(t, w.Add(marshal(t, part)))
	}
	last, err := w.End()
	require.NoError(t, err)
	assert.Greater(t, out.total, 40*500*lineSize-(1<<20))
	assert.Less(t, out.bytes, 64<<10+2*lineSize)
	assert.Less(t, cap(last), 256<<10)
}

func TestWritersThatFail(t *testing.T) {
	t.Parallel()
	list := &schedulingv1.ShiftList{}
	for i := range int64(5000) {
		list.Shifts = append(list.Shifts, shift(i+1))
	}
	w := lines.For(descriptor(list)).NewWriter(nil, broken{})
	defer w.Close()
	require.ErrorContains(t, w.Add(marshal(t, list)), "broken")
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, fmt.Errorf("broken") }

// divide cuts a message into parts between its fields, and within its messages.
func divide(random *rand.Rand, desc protoreflect.MessageDescriptor, wire []byte) [][]byte {
	parts := [][]byte{nil}
	add := func(field []byte) {
		if random.IntN(2) == 0 {
			parts = append(parts, nil)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], field...)
	}
	for len(wire) > 0 {
		number, kind, n := protowire.ConsumeField(wire)
		field := wire[:n]
		wire = wire[n:]
		fd := desc.Fields().ByNumber(number)
		if fd == nil || fd.Message() == nil || fd.IsList() || fd.IsMap() || kind != protowire.BytesType || fd.ContainingOneof() != nil && !fd.ContainingOneof().IsSynthetic() ||
			fd.Message().ParentFile().Package() == "google.protobuf" {
			add(field)
			continue
		}
		_, _, tag := protowire.ConsumeTag(field)
		message, _ := protowire.ConsumeBytes(field[tag:])
		at := 0
		for at < len(message) && random.IntN(4) > 0 {
			_, _, inner := protowire.ConsumeField(message[at:])
			at += inner
		}
		for _, half := range [][]byte{message[:at], message[at:]} {
			add(protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), half))
		}
	}
	return parts
}

// FuzzLines compares the lines of responses with their JSON: of a whole response, and of one in parts.
func FuzzLines(f *testing.F) {
	types := []protoreflect.MessageDescriptor{
		descriptor(&schedulingv1.Schedule{}), descriptor(&schedulingv1.ScheduleChanges{}), descriptor(&commonsv1.PersonList{}),
		descriptor(&commonsv1.PersonPage{}), descriptor(&timekeepingv1.TimecardList{}), descriptor(&timekeepingv1.TimecardMetricsList{}),
		descriptor(&commonv1.RefList{}), descriptor(&commonv1.ErrorBody{}),
	}
	schedule := &schedulingv1.Schedule{
		Shifts: &schedulingv1.ShiftList{Shifts: []*schedulingv1.Shift{shift(1), shift(2)}}, OpenShifts: &schedulingv1.ShiftList{},
		OpenShiftsSummary: &schedulingv1.OpenShiftsSummary{TotalCount: proto.Int32(0), CountsByDate: []*schedulingv1.OpenShiftCount{{}}},
	}
	f.Add(byte(0), uint64(1), marshal(f, schedule))
	f.Add(byte(1), uint64(2), marshal(f, &schedulingv1.ScheduleChanges{StartDateTime: "a", ScheduleChangeSnapshots: &schedulingv1.ScheduleChangeSnapshotList{Snapshots: []*schedulingv1.ScheduleChangeSnapshot{{}}}}))
	f.Add(byte(2), uint64(3), marshal(f, &commonsv1.PersonList{Persons: []*commonsv1.Person{{}}}))
	f.Add(byte(3), uint64(4), marshal(f, &commonsv1.PersonPage{TotalElements: proto.String("0"), Records: &commonsv1.PersonRecordList{}, Next: "n"}))
	f.Add(byte(4), uint64(5), marshal(f, &timekeepingv1.TimecardList{Failure: failure(f)}))
	f.Add(byte(6), uint64(6), marshal(f, &commonv1.RefList{Ids: []int64{1}, Refs: []*commonv1.Ref{{}}}))
	f.Add(byte(7), uint64(7), marshal(f, failure(f)))
	f.Fuzz(func(t *testing.T, which byte, seed uint64, wire []byte) {
		desc := types[int(which)%len(types)]
		kind, err := protoregistry.GlobalTypes.FindMessageByName(desc.FullName())
		require.NoError(t, err)
		if proto.Unmarshal(wire, kind.New().Interface()) != nil {
			return
		}
		if _, err := transcode.For(desc).AppendJSON(nil, wire); err != nil {
			return // For example, an Any of an unknown type.
		}
		requireSameAsJSON(t, desc, wire, wire)
		if desc.Fields().ByName("failure") == nil {
			requireSameAsJSON(t, desc, wire, divide(rand.New(rand.NewPCG(seed, 1)), desc, wire)...)
		}
	})
}
