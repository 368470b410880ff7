package pgtest

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Main is the TestMain of a package whose goroutines must all end with its
// tests:
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
// It fails the run if goroutines remain after the tests and the server have ended. Packages without
// their own goroutines need no TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if code == 0 {
		code = finish()
	}
	os.Exit(code)
}

func finish() int {
	s, err := shared()
	if err == nil {
		err = s.close()
	}
	if err == nil {
		err = goleak.Find()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		return 1
	}
	return 0
}
