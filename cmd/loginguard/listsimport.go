package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"loginguard/cmd/loginguard/feeds"
	"loginguard/netprefix"
)

// importing is what the command line asks of an import.
type importing struct {
	format      string
	filter      feeds.Filter
	noAggregate bool
	output      string
	json        bool
}

func (p *program) importCommand() *cobra.Command {
	var how importing
	var formats strings.Builder
	for _, f := range feeds.Formats() {
		fmt.Fprintf(&formats, "  %-12s%s", f.Name, f.About)
		if len(f.Filters) > 0 {
			fmt.Fprintf(&formats, " (--%s)", strings.Join(f.Filters, ", --"))
		}
		formats.WriteString("\n")
	}
	c := &cobra.Command{
		Use:   "import --format FORMAT [FILE|-]...",
		Short: "Make a list file of what a provider publishes",
		Long: "Reads what a cloud provider or another source publishes, from files that you have downloaded or from\n" +
			"standard input, and prints it as a list file: one block a line, IPv4 first, in order, adjacent and\n" +
			"overlapping blocks merged. The same input makes the same output. Nothing is downloaded.\n\n" +
			"A document that is cut off, of another format, without any block, or of blocks that are together all\n" +
			"of IPv4 or IPv6 is refused, and so is a filter that meets nothing. With --output the file is replaced\n" +
			"only when all went well, in one step, and only when its content changes; a shell's > would have emptied\n" +
			"it by then.\n\n" +
			"Formats:\n\n" + formats.String() + "\n" +
			"Exit status: 0 done, 1 the input is refused, with its line or the place in the JSON, 2 the command is\n" +
			"wrong.",
		Example: "  loginguard lists import --format aws --service EC2 --output hosting-aws.txt ip-ranges.json\n" +
			"  loginguard lists import --format azure --tag AzureCloud ServiceTags_Public.json > hosting-azure.txt\n" +
			"  loginguard lists import --format cloudflare ips-v4 ips-v6\n" +
			"  curl -fsS https://check.torproject.org/torbulkexitlist | loginguard lists import --format tor -",
		RunE: func(c *cobra.Command, files []string) error {
			if len(files) == 0 {
				files = []string{"-"}
			}
			return p.importLists(how, files, c.InOrStdin())
		},
	}
	c.Flags().StringVar(&how.format, "format", "", "`format` of the input, see above (required)")
	c.Flags().StringArrayVar(&how.filter.Services, "service", nil, "only this `service`, may be repeated")
	c.Flags().StringArrayVar(&how.filter.Regions, "region", nil, "only this `region`, may be repeated")
	c.Flags().StringArrayVar(&how.filter.Tags, "tag", nil, "only this `tag`, may be repeated")
	c.Flags().BoolVar(&how.noAggregate, "no-aggregate", false, "keep blocks as they are published; doubles still go")
	c.Flags().StringVar(&how.output, "output", "", "replace this `file` instead of printing")
	jsonFlag(c, &how.json)
	return c
}

// importLists reads all inputs and writes one list.
func (p *program) importLists(how importing, files []string, stdin io.Reader) error {
	format, ok := feeds.Find(how.format)
	if !ok {
		return usageError{how.unknownFormat()}
	}
	for name, words := range map[string][]string{"service": how.filter.Services, "region": how.filter.Regions, "tag": how.filter.Tags} {
		if len(words) > 0 && !format.Knows(name) {
			return usageError{fmt.Errorf("the format %s has no --%s", format.Name, name)}
		}
	}
	if how.json && how.output != "" {
		return usageError{errors.New("--json prints, and --output writes a list file: choose one")}
	}
	var all []netip.Prefix
	var head strings.Builder
	for _, name := range files {
		feed, err := readFeed(format, how.filter, name, stdin)
		if err != nil {
			return err
		}
		all = append(all, feed.Blocks...)
		fmt.Fprintf(&head, "# %s%s: %s from %s", format.Name, how.chosen(), plural(len(feed.Blocks), "block"), comment(sourceName(name)))
		if feed.Published != "" {
			fmt.Fprintf(&head, ", published as %s", feed.Published)
		}
		head.WriteString("\n")
	}
	list, kept := netprefix.Aggregate(all), "merged"
	for _, b := range list {
		// A hijacked or broken feed, and the lists are often loaded unseen.
		if b.Bits() == 0 {
			return fmt.Errorf("the input is refused as %s\n"+
				"its blocks together are all of %s, which is no list of networks: such a file would put everybody into one class", format.Name, b)
		}
	}
	if how.noAggregate {
		list, kept = netprefix.SortBlocks(all), "without doubles"
	}
	if how.json {
		return p.writeImported(format.Name, len(all), list)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s# %s, %s\n", head.String(), plural(len(list), "block"), kept)
	if err := netprefix.WriteList(&b, list); err != nil {
		return err
	}
	if how.output == "" {
		_, err := p.stdout.Write(b.Bytes())
		return err
	}
	changed, err := replaceFile(how.output, b.Bytes())
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	state := "is as it was"
	if changed {
		state = "is written"
	}
	_, err = fmt.Fprintf(p.stdout, "%s %s, with %s\n", printable(how.output), state, plural(len(list), "block"))
	return err
}

// unknownFormat says which formats there are.
func (how *importing) unknownFormat() error {
	var names []string
	for _, f := range feeds.Formats() {
		names = append(names, f.Name)
	}
	all := strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
	if how.format == "" {
		return fmt.Errorf("lists import needs --format: %s", all)
	}
	return fmt.Errorf("--format must be %s, not %q", all, how.format)
}

// chosen names the filters, for a comment.
func (how *importing) chosen() string {
	var b strings.Builder
	for _, f := range []struct {
		name  string
		words []string
	}{{"service", how.filter.Services}, {"region", how.filter.Regions}, {"tag", how.filter.Tags}} {
		if len(f.words) > 0 {
			fmt.Fprintf(&b, ", %s %s", f.name, comment(strings.Join(f.words, " or ")))
		}
	}
	return b.String()
}

// comment keeps text from ending the comment that it stands in.
func comment(s string) string { return printable(s) }

// sourceName is what an input is called in a comment.
func sourceName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return filepath.Base(name)
}

// readFeed reads one input, standard input for "-". Every line of the error
// names it.
func readFeed(format feeds.Format, filter feeds.Filter, name string, stdin io.Reader) (feeds.Feed, error) {
	in, shown := stdin, "standard input"
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return feeds.Feed{}, err
		}
		defer f.Close()
		in, shown = f, printable(name)
	}
	feed, err := format.Parse(in, filter)
	if err != nil {
		lines := strings.Split(err.Error(), "\n")
		for i, line := range lines {
			lines[i] = shown + ": " + printable(line)
		}
		return feeds.Feed{}, fmt.Errorf("the input is refused as %s\n%s", format.Name, strings.Join(lines, "\n"))
	}
	return feed, nil
}

// writeImported prints what was read, for scripts.
func (p *program) writeImported(format string, read int, list []netip.Prefix) error {
	out := struct {
		Format string   `json:"format"`
		Read   int      `json:"read"` // blocks before merging
		Blocks []string `json:"blocks"`
	}{Format: format, Read: read, Blocks: make([]string, len(list))}
	for i, b := range list {
		out.Blocks[i] = b.String()
	}
	return writeJSON(p.stdout, out)
}
