package cursor_test

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/cursor"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

type key struct {
	Name string
	ID   int64
}

func request(after string, change ...func(*commonsv1.ApplyReadPersonsRequest)) *commonsv1.ApplyReadPersonsRequest {
	req := &commonsv1.ApplyReadPersonsRequest{After: &after, Where: &commonsv1.ApplyReadPersonsWhere{EmploymentStatus: "Active"}}
	for _, c := range change {
		c(req)
	}
	return req
}

func TestCursors(t *testing.T) {
	t.Parallel()
	none, err := cursor.Read[key](&commonsv1.ApplyReadPersonsRequest{Index: new(int64(3))}, "index")
	require.NoError(t, err)
	assert.Nil(t, none, "without after, the pages have numbers")

	first, err := cursor.Read[key](request(""), "index")
	require.NoError(t, err)
	assert.Nil(t, first.After)

	for _, last := range []key{{"", 0}, {"Ünï <&> \x00 name", -7}, {"9007199254740993", 9007199254740993}} {
		again, err := cursor.Read[key](request(first.Next(last), func(req *commonsv1.ApplyReadPersonsRequest) { req.Count = new(int64(2)) }), "index")
		require.NoError(t, err)
		assert.Equal(t, last, *again.After, "the count of a page may change")
	}
}

func TestWrongCursors(t *testing.T) {
	t.Parallel()
	first, err := cursor.Read[int64](request(""))
	require.NoError(t, err)
	good := first.Next(7)
	decoded, err := base64.RawURLEncoding.DecodeString(good)
	require.NoError(t, err)
	with := func(end string) string { return base64.RawURLEncoding.EncodeToString(append(decoded[:8:8], end...)) }
	for name, c := range map[string]struct {
		req  *commonsv1.ApplyReadPersonsRequest
		code string
	}{
		"another text":              {request("7"), cursor.CodeUnknown},
		"letters that base64 lacks": {request(good + "="), cursor.CodeUnknown},
		"too short":                 {request(good[:8]), cursor.CodeUnknown},
		"too long":                  {request(strings.Repeat("A", 5000)), cursor.CodeUnknown},
		"the key of another list":   {request(with(`{"Name":"x"}`)), cursor.CodeUnknown},
		"two keys":                  {request(with("7 8")), cursor.CodeUnknown},
		"another form of the key":   {request(with(" 7")), cursor.CodeUnknown},
		"another filter":            {request(good, func(req *commonsv1.ApplyReadPersonsRequest) { req.Where.EmploymentStatus = "Inactive" }), cursor.CodeOtherRequest},
		"no filter":                 {request(good, func(req *commonsv1.ApplyReadPersonsRequest) { req.Where = nil }), cursor.CodeOtherRequest},
		"with index":                {request(good, func(req *commonsv1.ApplyReadPersonsRequest) { req.Index = new(int64(0)) }), cursor.CodeTwoPages},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := cursor.Read[int64](c.req, "index")
			assert.True(t, fault.HasCode(err, c.code), "%v", err)
		})
	}
	t.Run("another operation", func(t *testing.T) {
		t.Parallel()
		empty, err := cursor.Read[int64](&commonsv1.ApplyReadPersonsRequest{After: new("")})
		require.NoError(t, err)
		_, err = cursor.Read[int64](&commonsv1.MultiReadLocationsRequest{After: new(empty.Next(7))})
		assert.True(t, fault.HasCode(err, cursor.CodeOtherRequest), "%v", err)
	})
}

func TestPick(t *testing.T) {
	t.Parallel()
	same := func(id int64) int64 { return id }
	var seen []int64
	after := ""
	for range 4 {
		q, err := cursor.Read[int64](request(after))
		require.NoError(t, err)
		// Row 40 is deleted and row 25 created after the first page.
		rows := []int64{50, 10, 40, 20, 30}
		if after != "" {
			rows = []int64{10, 50, 30, 25, 20}
		}
		page, next := cursor.Pick(q, slices.Clone(rows), 2, same, cmp.Compare[int64])
		seen = append(seen, page...)
		if after = next; next == "" {
			break
		}
	}
	assert.Equal(t, []int64{10, 20, 25, 30, 50}, seen)
	assert.Empty(t, after)
}
