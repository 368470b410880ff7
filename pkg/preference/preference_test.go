package preference_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/preference"
)

func TestParseWait(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		lines []string
		want  int
	}{
		{"no header", nil, 0},
		{"a time", []string{"wait=5"}, 5},
		{"the longest time", []string{"wait=20"}, 20},
		{"a time that is too long", []string{"wait=600"}, 20},
		{"a time among other preferences", []string{"return=minimal", `respond-async; x=1, Wait = "7" ; y`}, 7},
		{"the first of two times", []string{"wait=3, wait=4"}, 3},
		{"no number", []string{"wait=soon"}, 0},
		{"a negative number", []string{"wait=-1"}, 0},
		{"a fraction", []string{"wait=1.5"}, 0},
		{"no value", []string{"wait"}, 0},
		{"another preference", []string{"waiting=3"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, preference.ParseWait(c.lines))
		})
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	assert.Zero(t, preference.Wait(ctx))
	assert.Equal(t, 5*time.Second, preference.Wait(preference.WithWait(ctx, 5*time.Second)))
	assert.Equal(t, preference.MaxWait, preference.Wait(preference.WithWait(ctx, time.Hour)))
	assert.Equal(t, "wait=5", preference.Applied(5*time.Second))
}
