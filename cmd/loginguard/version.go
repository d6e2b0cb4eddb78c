package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (p *program) versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Say what this is",
		Long: "Shows the version, or for a build from a working copy its commit, and the version of Go that built it.\n\n" +
			"Exit status: 0.",
		Example: "  loginguard version\n  loginguard version --json | jq -r .version",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			info, _ := debug.ReadBuildInfo()
			if asJSON {
				return writeJSON(p.stdout, struct {
					Version string `json:"version"`
					Go      string `json:"go"`
				}{version(info), goVersion(info)})
			}
			_, err := fmt.Fprintln(p.stdout, "loginguard", version(info), goVersion(info))
			return err
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

// version names the build: the module's version or, for a build from a working
// copy, the commit. Nil means that the binary carries no build information.
func version(info *debug.BuildInfo) string {
	if info == nil {
		return "(unknown)"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return "(devel)"
}

func goVersion(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	return info.GoVersion
}
