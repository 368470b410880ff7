package main

import (
	"errors"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFailuresToStartPostgreSQLArePrinted(t *testing.T) {
	t.Parallel()
	shell := func() *exec.Cmd { return exec.CommandContext(t.Context(), "sh", "-c", "exit 3") }
	initdb := shell().Run()
	require.Error(t, initdb)
	for name, c := range map[string]struct {
		err  error
		code int
		text string
	}{
		"success":                 {nil, 0, ""},
		"the command fails":       {errors.Join(runCommand(shell()), nil), 3, ""},
		"PostgreSQL fails":        {errors.Join(initdb, nil), 1, "exit status 3"},
		"there is no such folder": {errors.New("no such folder"), 1, "no such folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, text := outcome(c.err)
			assert.Equal(t, c.code, code)
			assert.Equal(t, c.text, text)
		})
	}
}
