package dataelement_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/fault"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
)

type thing struct{ name string }

func things(most int64) *dataelement.Table[thing] {
	text := []string{"EMPLOYEE"}
	return &dataelement.Table[thing]{
		Name: "THINGS", Permission: "things.thing.read", MaxRowDays: most,
		Entries: []dataelement.Entry[thing]{
			{
				Key: "NAME", Label: "Name", Doc: "The name.", Type: dataelement.String, Categories: text, Needs: 1,
				Value: func(r *thing, _ dataelement.At) dataelement.Value { return dataelement.Text(r.name) },
			},
			{
				Key: "DAYS", Label: "Days", Doc: "The days.", Type: dataelement.Long, Categories: text, Needs: 4, Series: true,
				Value: func(_ *thing, at dataelement.At) dataelement.Value {
					return dataelement.Whole(int64(at.Days.Days()))
				},
			},
			{
				Key: "WRONG", Label: "Wrong", Doc: "Of another type.", Type: dataelement.Date, Categories: text,
				Properties: []dataelement.Property{{Key: "OF", Doc: "Of what."}},
				Value: func(*thing, dataelement.At) dataelement.Value {
					return dataelement.Text("x")
				},
			},
		},
		Load: func(_ context.Context, ids []int64, _ civil.Range, needs uint64) ([]*thing, error) {
			out := make([]*thing, len(ids))
			for i, id := range ids {
				if id > 0 && needs == 5 {
					out[i] = &thing{name: string(rune('a' + id))}
				}
			}
			return out, nil
		},
	}
}

func ask(keys ...string) *datav1.ReadDataElementsRequest {
	req := &datav1.ReadDataElementsRequest{Provider: "THINGS", RowIds: []int64{1, 0, 2}, Bounds: []int32{0, 1, 3}}
	for _, key := range keys {
		req.Elements = append(req.Elements, &datav1.DataSelection{Key: key})
	}
	return req
}

func TestReadReturnsColumns(t *testing.T) {
	t.Parallel()
	table := things(9)
	require.Empty(t, table.Problems())
	server := dataelement.NewServer(table)
	response, err := server.ReadDataElements(t.Context(), ask("NAME", "DAYS", "WRONG"))
	require.NoError(t, err)
	names, days, wrong := response.GetColumns()[0], response.GetColumns()[1], response.GetColumns()[2]
	assert.Equal(t, []string{"b", "c"}, names.GetTexts(), "what holds for all days is there once")
	assert.Equal(t, []byte{0b101}, names.GetPresent())
	assert.Equal(t, []int64{1, 2, 1, 2}, days.GetIntegers(), "a series has a value for each period")
	assert.Equal(t, []byte{0b110011}, days.GetPresent())
	assert.True(t, dataelement.Present(days, 1))
	assert.False(t, dataelement.Present(days, 2))
	assert.False(t, dataelement.Present(wrong, 0), "a value of another type is none")
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	server := dataelement.NewServer(things(8))
	_, err := server.ReadDataElements(t.Context(), ask("NAME"))
	assert.True(t, fault.HasCode(err, dataelement.CodeLimit), err)
	assert.Contains(t, err.Error(), "9")
	for name, req := range map[string]*datav1.ReadDataElementsRequest{
		"another provider": {Provider: "OTHER"},
		"no days":          {Provider: "THINGS", Bounds: []int32{1}},
		"days that go back": {
			Provider: "THINGS", Bounds: []int32{1, 1},
			RowIds: []int64{1},
		},
		"another element": {Provider: "THINGS", Bounds: []int32{0, 1}, Elements: []*datav1.DataSelection{{Key: "X"}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := server.ReadDataElements(t.Context(), req)
			assert.True(t, fault.HasStatus(err, 400), name)
		})
	}
}

func TestTheValuesOfAResponseAreBounded(t *testing.T) {
	t.Parallel()
	req := &datav1.ReadDataElementsRequest{RowIds: make([]int64, 500), Elements: []*datav1.DataSelection{{Key: "DAYS"}, {Key: "DAYS"}}}
	for day := range int32(251) {
		req.Bounds = append(req.Bounds, day)
	}
	table := things(1 << 40)
	_, err := table.Read(t.Context(), req)
	require.NoError(t, err)
	req.Bounds = append(req.Bounds, 251)
	_, err = table.Read(t.Context(), req)
	assert.True(t, fault.HasCode(err, dataelement.CodeLimit), err)
}

func TestProblems(t *testing.T) {
	t.Parallel()
	table := things(1)
	table.Entries = append(table.Entries, dataelement.Entry[thing]{Key: "name"}, table.Entries[0])
	assert.Len(t, table.Problems(), 4)
}
